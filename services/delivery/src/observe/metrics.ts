/** The metrics of the delivery service. Those of each destination are on a page of their own (counts.ts). */
import type { ConfigView, Destination } from '@tailrace/config';
import type { Consumption, Work } from '@tailrace/kafka';
import type { DeadReason } from '@tailrace/metrics';
import { CountsById, watchConsumption, type Log, type Metrics } from '@tailrace/service';
import type { AttemptRecord } from '@tailrace/records';
import { targetsOf, tokenServerOf, type Sender } from '@tailrace/webhook';
import type { HeldBy, Wait } from '../delivery.ts';
import type { LaneLimits, Lanes } from '../stages/lane/lanes.ts';
import { AttemptLog, type LogAttempts } from './attempt-log.ts';
import { addDestinationMetrics, DeliveryCounts, DeliveryTotals } from './counts.ts';
import type { PartitionWatch } from '../sources/partitions.ts';

export interface DeliveryMetricsOptions {
  readonly config: Pick<ConfigView, 'destination' | 'onChange'>;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly logAttempts: LogAttempts;
}

/** Counts deliveries, in total and for each destination. */
export class DeliveryMetrics {
  readonly #totals = new DeliveryTotals();
  readonly #byDestination: CountsById<DeliveryCounts>;
  readonly #attemptLog: AttemptLog;
  readonly #duration;
  readonly #firstAttemptDelay;
  readonly #age;
  readonly #retryLateness;

  constructor(metrics: Metrics, { config, log, logAttempts }: DeliveryMetricsOptions) {
    this.#byDestination = new CountsById(
      () => new DeliveryCounts(),
      (id) => config.destination(id) !== undefined,
    );
    config.onChange(({ kind, id }) => {
      if (kind === 'destination') this.#byDestination.changed(id);
    });
    this.#attemptLog = new AttemptLog({ log, which: logAttempts, totals: this.#totals });
    exposeTotals(metrics, this.#totals);
    addDestinationMetrics(metrics.pages.destinations, this.#byDestination);
    this.#duration = metrics.histogram('tailrace_delivery_attempt_duration_seconds').of({});
    this.#firstAttemptDelay = metrics.histogram('tailrace_delivery_first_attempt_delay_seconds');
    this.#age = metrics.histogram('tailrace_delivery_age_seconds');
    this.#retryLateness = metrics.histogram('tailrace_delivery_retry_lateness_seconds').of({});
  }

  /** `delayMs` counts from the acceptance. */
  firstAttempt(delayMs: number, heldBy: HeldBy): void {
    this.#firstAttemptDelay.of({ held_by: heldBy }).observe(delayMs / 1_000);
  }

  /** `latenessMs` counts from the due time. */
  laterAttempt(latenessMs: number): void {
    this.#retryLateness.observe(latenessMs / 1_000);
  }

  /** `sinceAcceptanceMs` may be negative where clocks differ. */
  attempted(attempt: AttemptRecord, sinceAcceptanceMs: number, traceparent?: string): void {
    const ageMs = Math.max(0, sinceAcceptanceMs);
    this.#totals.attempted(attempt, ageMs);
    this.#byDestination.of(attempt.destinationId).attempted(attempt, ageMs);
    this.#duration.observe(attempt.latencyMs / 1_000);
    if (attempt.outcome === 'delivered') {
      this.#age.of({ attempt: attempt.attempt === 1 ? 'first' : 'later' }).observe(ageMs / 1_000);
    }
    this.#attemptLog.attempted(attempt, traceparent);
  }

  /** Counts a delivery that was written to a retry topic without an attempt. */
  waits(destinationId: string, cause: Wait['cause']): void {
    this.#totals.waits[cause] += 1;
    this.#byDestination.of(destinationId).waits[cause] += 1;
  }

  deadLetter(destinationId: string, reason: DeadReason): void {
    this.#totals.deadLetter(reason);
    this.#byDestination.of(destinationId).deadLetter(reason);
  }

  /** Counts a delivery that ended. Where its partition was revoked, the new owner repeats it and counts it. */
  ended(work: Pick<Work, 'revoked'>, outcome: 'delivered' | 'dead'): void {
    if (!work.revoked) this.#totals.ended[outcome] += 1;
  }

  /** Counts a replayed dead letter that has left the replay topic. */
  replayed(): void {
    this.#totals.replayed += 1;
  }

  /** Writes the last summary to the log. */
  close(): void {
    this.#attemptLog.close();
  }
}

function exposeTotals(metrics: Metrics, totals: DeliveryTotals): void {
  metrics.counter('tailrace_deliveries_replayed_total', () => totals.replayed);
  metrics.counter('tailrace_deliveries_ended_total', () =>
    (['delivered', 'dead'] as const).map((outcome) => ({
      labels: { outcome },
      value: totals.ended[outcome],
    })),
  );
  metrics.counter('tailrace_delivery_attempts_total', () => totals.attemptsByOutcome());
  metrics.counter('tailrace_dead_letters_total', () => totals.deadByReason());
  metrics.counter('tailrace_deliveries_put_off_total', () => totals.waits.deferred);
  metrics.counter('tailrace_deliveries_behind_total', () => totals.waits.behind);
  metrics.counter('tailrace_deliveries_parked_total', () => totals.waits.parked);
  metrics.counter('tailrace_deliveries_paused_total', () => totals.waits.paused);
}

/** Gauges that are read at each scrape. */
export function watchDelivery(
  metrics: Metrics,
  watched: {
    readonly pipeline: { readonly waiting: number };
    readonly lanes: Pick<Lanes, 'running' | 'waiting' | 'breakers'>;
    readonly limits: Pick<LaneLimits, 'total' | 'waiting'>;
    readonly config: Pick<ConfigView, 'destination'>;
    readonly consumption: Consumption;
    readonly partitions: PartitionWatch;
    readonly sender: Pick<Sender, 'tokenRequests'>;
  },
): void {
  const { pipeline, lanes, limits, config, consumption, partitions, sender } = watched;
  metrics.gauge('tailrace_deliveries_in_flight', () => lanes.running);
  metrics.gauge('tailrace_deliveries_in_flight_limit', () => limits.total);
  metrics.gauge('tailrace_deliveries_queued', () => lanes.waiting);
  metrics.gauge('tailrace_deliveries_queued_limit', () => limits.waiting);
  metrics.gauge('tailrace_circuit_breakers', () =>
    (['open', 'half-open'] as const).map((state) => ({
      labels: { state },
      value: lanes.breakers.count(state),
    })),
  );
  const openFor = () => lanes.breakers.openFor((id, url) => isSentTo(config.destination(id), url));
  metrics.gauge('tailrace_circuit_breaker_open_seconds', () => {
    let longestMs = 0;
    for (const ms of openFor().values()) longestMs = Math.max(longestMs, ms);
    return longestMs / 1_000;
  });
  metrics.pages.destinations.add('tailrace_destination_breaker_open_seconds', function* () {
    for (const [destination_id, ms] of openFor()) yield { labels: { destination_id }, value: ms / 1_000 };
  });
  metrics.gauge('tailrace_egress_proxy_open_seconds', () => lanes.breakers.proxyOpenFor / 1_000);
  metrics.counter('tailrace_token_requests_total', () =>
    (['fetched', 'failed'] as const).map((outcome) => ({
      labels: { outcome },
      value: sender.tokenRequests[outcome],
    })),
  );
  metrics.gauge('tailrace_deliveries_waiting', () => pipeline.waiting);
  metrics.counter('tailrace_deliveries_unrecorded_total', () => consumption.totals.untraced);
  metrics.gauge('tailrace_missing_partitions', () => partitions.missing);
  watchConsumption(metrics, consumption);
}

/** Whether the destination gets deliveries and has the URL, or the token server, with this fingerprint. */
function isSentTo(destination: Destination | undefined, url: string): boolean {
  if (!destination?.enabled || destination.paused) return false;
  const targets = [...targetsOf(destination), tokenServerOf(destination)];
  return targets.some((target) => target?.fingerprint === url);
}
