/** Metrics of delivery: totals. funnel.ts says how they add up. */
import { deadAttemptReasons, deadReasons, each, heldBy, retryReasons } from '../label-values.ts';
import { buckets, type MetricSpec } from '../metric.ts';

const services = ['delivery'] as const;

const outcome = { values: ['delivered', 'retry', 'dead'] } as const;

/** An attempt that delivered has the reason ''. */
export const attemptLabels = {
  outcome,
  reason: { values: ['', ...new Set([...retryReasons, ...deadAttemptReasons])] },
} as const;

export const deliveryMetrics = {
  tailrace_deliveries_replayed_total: {
    type: 'counter',
    unit: 'deliveries',
    services,
    help: 'Replayed dead letters and resent deliveries that have left the replay topic.',
  },
  tailrace_deliveries_ended_total: {
    type: 'counter',
    unit: 'deliveries',
    labels: { outcome: { values: ['delivered', 'dead'] } },
    services,
    help: 'Deliveries that ended: delivered, or kept as a dead letter. One that the new owner of its partition repeats counts there.',
  },
  tailrace_dead_letters_total: {
    type: 'counter',
    unit: 'deliveries',
    labels: { reason: { values: deadReasons } },
    services,
    help: 'Dead letters acknowledged by Kafka, by reason.',
  },
  tailrace_delivery_attempts_total: {
    type: 'counter',
    unit: 'attempts',
    labels: attemptLabels,
    combinations: [
      { outcome: 'delivered', reason: '' },
      ...each('reason', retryReasons).map((reason) => ({ outcome: 'retry', ...reason })),
      ...each('reason', deadAttemptReasons).map((reason) => ({ outcome: 'dead', ...reason })),
    ],
    services,
    help: 'Attempts, by outcome and reason.',
  },
  tailrace_deliveries_put_off_total: {
    type: 'counter',
    unit: 'deliveries',
    services,
    help: 'Deliveries written to a tier without an attempt, because the lane of their destination was full.',
  },
  tailrace_deliveries_behind_total: {
    type: 'counter',
    unit: 'deliveries',
    services,
    help: 'Deliveries written to a tier to wait behind an earlier one of their user.',
  },
  tailrace_deliveries_parked_total: {
    type: 'counter',
    unit: 'deliveries',
    services,
    help: 'Deliveries written to a tier without an attempt, because a circuit breaker was open.',
  },
  tailrace_deliveries_paused_total: {
    type: 'counter',
    unit: 'deliveries',
    services,
    help: 'Deliveries written to the tier of a day without an attempt, because their destination was paused; once a day each.',
  },
  tailrace_deliveries_unrecorded_total: {
    type: 'counter',
    unit: 'deliveries',
    services,
    help: 'Deliveries that were committed as delivered before Kafka had acknowledged the record of their attempt, because that took too long. A kill at that moment loses the record.',
  },
  tailrace_delivery_first_attempt_delay_seconds: {
    type: 'histogram',
    unit: 'seconds',
    labels: { held_by: { values: heldBy } },
    buckets: buckets.age,
    services,
    help: 'From the acceptance of an event to the first attempt of a delivery, by what the delivery waited for in between.',
  },
  tailrace_delivery_age_seconds: {
    type: 'histogram',
    unit: 'seconds',
    labels: { attempt: { values: ['first', 'later'] } },
    buckets: buckets.age,
    services,
    help: 'From the acceptance of an event to its delivery, by the attempt that delivered it.',
  },
  tailrace_delivery_attempt_duration_seconds: {
    type: 'histogram',
    unit: 'seconds',
    buckets: buckets.request,
    services,
    help: 'From the start of an attempt to the last answer of its URLs.',
  },
  tailrace_delivery_retry_lateness_seconds: {
    type: 'histogram',
    unit: 'seconds',
    buckets: buckets.request,
    services,
    help: 'From the time a retry was due to its start.',
  },
  tailrace_deliveries_in_flight: {
    type: 'gauge',
    unit: 'deliveries',
    services,
    help: 'Deliveries being attempted now.',
  },
  tailrace_deliveries_in_flight_limit: {
    type: 'gauge',
    unit: 'deliveries',
    services,
    help: 'The most deliveries that are attempted at the same time.',
  },
  tailrace_deliveries_queued: {
    type: 'gauge',
    unit: 'deliveries',
    services,
    help: 'Deliveries waiting for their turn in a lane.',
  },
  tailrace_deliveries_queued_limit: {
    type: 'gauge',
    unit: 'deliveries',
    services,
    help: 'The most deliveries that wait for their turn in memory.',
  },
  tailrace_deliveries_waiting: {
    type: 'gauge',
    unit: 'deliveries',
    services,
    help: 'Deliveries read ahead from the tiers and not due yet.',
  },
  tailrace_circuit_breakers: {
    type: 'gauge',
    unit: 'URLs',
    labels: { state: { values: ['open', 'half-open'] } },
    services,
    help: 'URLs whose circuit breaker is in this state.',
  },
  tailrace_circuit_breaker_open_seconds: {
    type: 'gauge',
    unit: 'seconds',
    services,
    help: 'How long the circuit breaker that has been open longest has been open; 0 where none is open.',
  },
  tailrace_missing_partitions: {
    type: 'gauge',
    unit: 'partitions',
    services,
    help: 'Partitions that tiers, replay topic or dead letters lack. Records for them wait to be written.',
  },
} as const satisfies Record<string, MetricSpec>;
