/** The delivery service's metrics: what an SRE asks first. Those of each destination are on a page (measure/counts.ts). */
import type { ConfigView } from '@tailrace/config';
import type { Consumption } from '@tailrace/kafka';
import { buckets, CountsById, watchLag, type Log, type Metrics } from '@tailrace/service';
import type { Deliverer, DeliveryObserver } from './deliver.ts';
import type { Lanes } from './lanes/lanes.ts';
import { AttemptLog, type LogAttempts } from './measure/attempt-log.ts';
import { DeliveryCounts, destinationMetrics } from './measure/counts.ts';
import type { PartitionWatch } from './partitions.ts';

export interface Observation {
  readonly observer: DeliveryObserver;
  /** Ends the summaries in the log. */
  close(): void;
}

export function observeDeliveries(
  metrics: Metrics,
  config: Pick<ConfigView, 'destination' | 'onChange'>,
  { log, logAttempts }: { readonly log: Pick<Log, 'info'>; readonly logAttempts: LogAttempts },
): Observation {
  const totals = new DeliveryCounts();
  const byDestination = new CountsById(
    () => new DeliveryCounts(),
    (id) => config.destination(id) !== undefined,
  );
  config.onChange(({ kind, id }) => {
    if (kind === 'destination') byDestination.changed(id);
  });
  const attemptLog = new AttemptLog({ log, which: logAttempts, totals });
  exposeTotals(metrics, totals);
  for (const metric of destinationMetrics(byDestination)) metrics.pages.destinations.add(metric);

  const duration = metrics.histogram(
    'tailrace_delivery_attempt_duration_seconds',
    'From the start of an attempt to the last answer of its URLs.',
    { buckets: buckets.requestSeconds },
  );
  const firstAttemptDelay = metrics.histogram(
    'tailrace_delivery_first_attempt_delay_seconds',
    'From the acceptance of an event to its first attempt.',
    { buckets: buckets.eventAgeSeconds },
  );
  const deliveryAge = metrics.histogram(
    'tailrace_delivery_age_seconds',
    'From the acceptance of an event to its delivery.',
    { buckets: buckets.eventAgeSeconds },
  );
  const retryLateness = metrics.histogram(
    'tailrace_delivery_retry_lateness_seconds',
    'From the time a retry was due to its start.',
    { buckets: buckets.requestSeconds },
  );
  const observer: DeliveryObserver = {
    started({ latenessMs, first }) {
      (first ? firstAttemptDelay : retryLateness).observe(Math.max(0, latenessMs) / 1_000);
    },
    attempted(attempt, sinceAcceptanceMs) {
      const ageMs = Math.max(0, sinceAcceptanceMs);
      totals.attempted(attempt, ageMs);
      byDestination.of(attempt.destinationId).attempted(attempt, ageMs);
      duration.observe(attempt.latencyMs / 1_000);
      if (attempt.outcome === 'delivered') deliveryAge.observe(ageMs / 1_000);
      attemptLog.attempted(attempt);
    },
    putOff(destinationId) {
      totals.deferred += 1;
      byDestination.of(destinationId).deferred += 1;
    },
    putBehind(destinationId) {
      totals.behind += 1;
      byDestination.of(destinationId).behind += 1;
    },
    parked(destinationId) {
      totals.parked += 1;
      byDestination.of(destinationId).parked += 1;
    },
    died(destinationId, reason) {
      totals.died(reason);
      byDestination.of(destinationId).died(reason);
    },
  };
  return {
    observer,
    close() {
      attemptLog.close();
    },
  };
}

function exposeTotals(metrics: Metrics, totals: DeliveryCounts): void {
  metrics.counter(
    'tailrace_delivery_attempts_total',
    'Attempts, by what they ended in.',
    ['outcome', 'reason'],
    () => [...totals.attemptsByOutcome()],
  );
  metrics.counter(
    'tailrace_dead_letters_total',
    'Deliveries that were given up, by reason, once Kafka has the dead letter.',
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
    readonly deliverer: Deliverer;
    readonly lanes: Lanes;
    readonly consumption: Consumption;
    readonly partitions: PartitionWatch;
  },
): void {
  const { deliverer, lanes, consumption, partitions } = watched;
  metrics.gauge('tailrace_deliveries_in_flight', 'Deliveries being attempted now.', {
    read: () => lanes.running,
  });
  metrics.gauge('tailrace_deliveries_queued', 'Deliveries that wait for their turn in a lane.', {
    read: () => lanes.waiting,
  });
  metrics.gauge('tailrace_circuit_breakers', 'URLs whose circuit breaker is in this state.', {
    labels: ['state'],
    read: () =>
      (['open', 'half-open'] as const).map((state) => ({
        labels: { state },
        value: lanes.countBreakers(state),
      })),
  });
  metrics.gauge('tailrace_deliveries_waiting', 'Deliveries read ahead from the tiers, waiting to be due.', {
    read: () => deliverer.waiting,
  });
  metrics.gauge(
    'tailrace_missing_partitions',
    'Partitions that tiers, replay lane or dead letters lack: what must be written there waits.',
    { read: () => partitions.missing },
  );
  watchLag(metrics, consumption);
}
