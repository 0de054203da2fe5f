/** The delivery service's metrics: what an SRE asks first, by destination and never by user or URL. */
import type { Consumption } from '@tailrace/kafka';
import { buckets, watchLag, type Metrics } from '@tailrace/service';
import type { Deliverer, DeliveryObserver } from './deliver.ts';
import type { Lanes } from './lanes/lanes.ts';
import type { PartitionWatch } from './partitions.ts';

export function deliveryObserver(metrics: Metrics): DeliveryObserver {
  const attempts = metrics.counter('tailrace_delivery_attempts_total', 'Attempts, by what they ended in.', [
    'destination_id',
    'outcome',
    'reason',
  ]);
  const duration = metrics.histogram(
    'tailrace_delivery_attempt_duration_seconds',
    'From the start of an attempt to the last answer of its URLs.',
    { buckets: buckets.requestSeconds, labels: ['destination_id'] },
  );
  const firstLateness = metrics.histogram(
    'tailrace_delivery_first_attempt_delay_seconds',
    'From the router to the first attempt.',
    { buckets: buckets.eventAgeSeconds },
  );
  const retryLateness = metrics.histogram(
    'tailrace_delivery_retry_lateness_seconds',
    'From the time a retry was due to its start.',
    { buckets: buckets.requestSeconds },
  );
  const dead = metrics.counter(
    'tailrace_dead_letters_total',
    'Deliveries that were given up, by reason, once Kafka has the dead letter.',
    ['destination_id', 'reason'],
  );
  const putOff = metrics.counter(
    'tailrace_deliveries_put_off_total',
    'Deliveries written to a tier without an attempt, because the lane of their destination was full.',
    ['destination_id'],
  );
  const behind = metrics.counter(
    'tailrace_deliveries_behind_total',
    'Deliveries written to a tier to wait behind an earlier one of their user.',
    ['destination_id'],
  );
  const parked = metrics.counter(
    'tailrace_deliveries_parked_total',
    'Deliveries written to a tier without an attempt, because a circuit breaker was open.',
    ['destination_id'],
  );
  return {
    started({ latenessMs, first }) {
      (first ? firstLateness : retryLateness).observe(Math.max(0, latenessMs) / 1_000);
    },
    attempted({ destinationId, outcome, reason = '', latencyMs }) {
      attempts.inc({ destination_id: destinationId, outcome, reason });
      duration.observe({ destination_id: destinationId }, latencyMs / 1_000);
    },
    putOff(destinationId) {
      putOff.inc({ destination_id: destinationId });
    },
    putBehind(destinationId) {
      behind.inc({ destination_id: destinationId });
    },
    parked(destinationId) {
      parked.inc({ destination_id: destinationId });
    },
    died(destinationId, reason) {
      dead.inc({ destination_id: destinationId, reason });
    },
  };
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
