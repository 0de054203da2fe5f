/** The metrics of the delivery service. Those of each destination are on a page of their own (measure/counts.ts). */
import type { ConfigView } from '@tailrace/config';
import type { Consumption } from '@tailrace/kafka';
import { buckets, CountsById, watchLag, type Log, type Metrics } from '@tailrace/service';
import type { AttemptRecord } from '@tailrace/topics';
import type { Lanes } from './isolation/lanes.ts';
import { AttemptLog, type LogAttempts } from './measure/attempt-log.ts';
import { DeliveryCounts, destinationMetrics } from './measure/counts.ts';
import type { DeadReason } from './outcome.ts';
import type { PartitionWatch } from './partitions.ts';

export interface DeliveryMetricsOptions {
  readonly config: Pick<ConfigView, 'destination' | 'onChange'>;
  readonly log: Pick<Log, 'info'>;
  readonly logAttempts: LogAttempts;
}

/** Counts deliveries, in total and for each destination. */
export class DeliveryMetrics {
  readonly #totals = new DeliveryCounts();
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
    for (const metric of destinationMetrics(this.#byDestination)) metrics.pages.destinations.add(metric);
    this.#duration = metrics.histogram(
      'tailrace_delivery_attempt_duration_seconds',
      'From the start of an attempt to the last answer of its URLs.',
      { buckets: buckets.requestSeconds },
    );
    this.#firstAttemptDelay = metrics.histogram(
      'tailrace_delivery_first_attempt_delay_seconds',
      'From the acceptance of an event to its first attempt.',
      { buckets: buckets.eventAgeSeconds },
    );
    this.#age = metrics.histogram(
      'tailrace_delivery_age_seconds',
      'From the acceptance of an event to its delivery.',
      { buckets: buckets.eventAgeSeconds },
    );
    this.#retryLateness = metrics.histogram(
      'tailrace_delivery_retry_lateness_seconds',
      'From the time a retry was due to its start.',
      { buckets: buckets.requestSeconds },
    );
  }

  /** `latenessMs` counts from the acceptance for the first attempt, and from the due time for all others. */
  attemptStarted(latenessMs: number, isFirst: boolean): void {
    (isFirst ? this.#firstAttemptDelay : this.#retryLateness).observe(Math.max(0, latenessMs) / 1_000);
  }

  /** `sinceAcceptanceMs` may be negative where clocks differ. */
  attempted(attempt: AttemptRecord, sinceAcceptanceMs: number): void {
    const ageMs = Math.max(0, sinceAcceptanceMs);
    this.#totals.attempted(attempt, ageMs);
    this.#byDestination.of(attempt.destinationId).attempted(attempt, ageMs);
    this.#duration.observe(attempt.latencyMs / 1_000);
    if (attempt.outcome === 'delivered') this.#age.observe(ageMs / 1_000);
    this.#attemptLog.attempted(attempt);
  }

  deferred(destinationId: string): void {
    this.#totals.deferred += 1;
    this.#byDestination.of(destinationId).deferred += 1;
  }

  waitsBehind(destinationId: string): void {
    this.#totals.behind += 1;
    this.#byDestination.of(destinationId).behind += 1;
  }

  parked(destinationId: string): void {
    this.#totals.parked += 1;
    this.#byDestination.of(destinationId).parked += 1;
  }

  deadLetter(destinationId: string, reason: DeadReason): void {
    this.#totals.deadLetter(reason);
    this.#byDestination.of(destinationId).deadLetter(reason);
  }

  /** Writes the last summary to the log. */
  close(): void {
    this.#attemptLog.close();
  }
}

function exposeTotals(metrics: Metrics, totals: DeliveryCounts): void {
  metrics.counter(
    'tailrace_delivery_attempts_total',
    'Attempts, by outcome and reason.',
    ['outcome', 'reason'],
    () => [...totals.attemptsByOutcome()],
  );
  metrics.counter(
    'tailrace_dead_letters_total',
    'Dead letters acknowledged by Kafka, by reason.',
    ['reason'],
    () => [...totals.deadByReason()],
  );
  metrics.counter(
    'tailrace_deliveries_put_off_total',
    'Deliveries written to a tier without an attempt, because the lane of their destination was full.',
    [],
    () => totals.deferred,
  );
  metrics.counter(
    'tailrace_deliveries_behind_total',
    'Deliveries written to a tier to wait behind an earlier one of their user.',
    [],
    () => totals.behind,
  );
  metrics.counter(
    'tailrace_deliveries_parked_total',
    'Deliveries written to a tier without an attempt, because a circuit breaker was open.',
    [],
    () => totals.parked,
  );
}

/** Gauges that are read at each scrape. */
export function watchDelivery(
  metrics: Metrics,
  watched: {
    readonly deliverer: { readonly waiting: number };
    readonly lanes: Pick<Lanes, 'running' | 'waiting' | 'breakers'>;
    readonly consumption: Consumption;
    readonly partitions: PartitionWatch;
  },
): void {
  const { deliverer, lanes, consumption, partitions } = watched;
  metrics.gauge('tailrace_deliveries_in_flight', 'Deliveries being attempted now.', {
    read: () => lanes.running,
  });
  metrics.gauge('tailrace_deliveries_queued', 'Deliveries waiting for their turn in a lane.', {
    read: () => lanes.waiting,
  });
  metrics.gauge('tailrace_circuit_breakers', 'URLs whose circuit breaker is in this state.', {
    labels: ['state'],
    read: () =>
      (['open', 'half-open'] as const).map((state) => ({
        labels: { state },
        value: lanes.breakers.count(state),
      })),
  });
  metrics.gauge('tailrace_deliveries_waiting', 'Deliveries read ahead from the tiers and not due yet.', {
    read: () => deliverer.waiting,
  });
  metrics.gauge(
    'tailrace_missing_partitions',
    'Partitions that tiers, replay topic or dead letters lack. Records for them wait to be written.',
    { read: () => partitions.missing },
  );
  watchLag(metrics, consumption);
}
