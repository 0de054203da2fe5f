/** The delivery service's metrics: what an SRE asks first, by destination and never by user or URL. */
import type { Consumption } from '@tailrace/kafka';
import { buckets, type Metrics } from '@tailrace/service';
import type { Deliverer, DeliveryObserver } from './deliver.ts';

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
  const dead = metrics.counter('tailrace_dead_letters_total', 'Deliveries that were given up, by reason.', [
    'destination_id',
    'reason',
  ]);
  return {
    started({ latenessMs, first }) {
      (first ? firstLateness : retryLateness).observe(Math.max(0, latenessMs) / 1_000);
    },
    attempted({ destinationId, outcome, reason = '', latencyMs }) {
      attempts.inc({ destination_id: destinationId, outcome, reason });
      duration.observe({ destination_id: destinationId }, latencyMs / 1_000);
    },
    died(destinationId, reason) {
      dead.inc({ destination_id: destinationId, reason });
    },
  };
}

/** Gauges that are read at each scrape. */
export function watchDelivery(metrics: Metrics, deliverer: Deliverer, consumption: Consumption): void {
  metrics.gauge('tailrace_deliveries_in_flight', 'Deliveries being attempted now.', {
    read: () => deliverer.inFlight,
  });
  metrics.gauge('tailrace_deliveries_waiting', 'Deliveries read ahead from the tiers, waiting to be due.', {
    read: () => deliverer.waiting,
  });
  metrics.gauge(
    'tailrace_consumer_lag_records',
    'Records between what is finished and the end of the partition; in a tier, those waiting to be due.',
    {
      labels: ['topic', 'partition'],
      read: () =>
        consumption.partitions.map(({ topic, partition, lag }) => ({
          labels: { topic, partition: String(partition) },
          value: lag,
        })),
    },
  );
}
