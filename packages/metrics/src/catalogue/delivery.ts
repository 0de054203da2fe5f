/** Metrics of delivery: totals. funnel.ts says how they add up. */
import { deadAttemptReasons, deadReasons, each, heldBy, retryReasons } from '../label-values.ts';
import { buckets, counter, gauge, histogram, metricsOf } from '../metric.ts';

const outcome = { values: ['delivered', 'retry', 'dead'] } as const;

/** An attempt that delivered has the reason ''. */
export const attemptLabels = {
  outcome,
  reason: { values: ['', ...new Set([...retryReasons, ...deadAttemptReasons])] },
} as const;

export const deliveryMetrics = metricsOf(
  { services: ['delivery'] },
  {
    tailrace_deliveries_replayed_total: counter('deliveries', {
      help: 'Replayed dead letters and resent deliveries that have left the replay topic.',
    }),
    tailrace_deliveries_ended_total: counter('deliveries', {
      labels: { outcome: { values: ['delivered', 'dead'] } },
      help: 'Deliveries that ended: delivered, or kept as a dead letter. One that the new owner of its partition repeats counts there.',
    }),
    tailrace_dead_letters_total: counter('deliveries', {
      labels: { reason: { values: deadReasons } },
      help: 'Dead letters acknowledged by Kafka, by reason.',
    }),
    tailrace_delivery_attempts_total: counter('attempts', {
      labels: attemptLabels,
      combinations: [
        { outcome: 'delivered', reason: '' },
        ...each('reason', retryReasons).map((reason) => ({ outcome: 'retry', ...reason })),
        ...each('reason', deadAttemptReasons).map((reason) => ({ outcome: 'dead', ...reason })),
      ],
      help: 'Attempts, by outcome and reason.',
    }),
    tailrace_deliveries_put_off_total: counter('deliveries', {
      help: 'Deliveries written to a tier without an attempt, because the lane of their destination was full.',
    }),
    tailrace_deliveries_behind_total: counter('deliveries', {
      help: 'Deliveries written to a tier to wait behind an earlier one of their user.',
    }),
    tailrace_deliveries_parked_total: counter('deliveries', {
      help: 'Deliveries written to a tier without an attempt, because a circuit breaker was open.',
    }),
    tailrace_deliveries_paused_total: counter('deliveries', {
      help: 'Deliveries written to the tier of a day without an attempt, because their destination was paused; once a day each.',
    }),
    tailrace_deliveries_unrecorded_total: counter('deliveries', {
      help: 'Deliveries that were committed as delivered before Kafka had acknowledged the record of their attempt, because that took too long. A kill at that moment loses the record.',
    }),
    tailrace_delivery_first_attempt_delay_seconds: histogram('seconds', {
      labels: { held_by: { values: heldBy } },
      buckets: buckets.age,
      help: 'From the acceptance of an event to the first attempt of a delivery, by what the delivery waited for in between.',
    }),
    tailrace_delivery_age_seconds: histogram('seconds', {
      labels: { attempt: { values: ['first', 'later'] } },
      buckets: buckets.age,
      help: 'From the acceptance of an event to its delivery, by the attempt that delivered it.',
    }),
    tailrace_delivery_attempt_duration_seconds: histogram('seconds', {
      buckets: buckets.request,
      help: 'From the start of an attempt to the last answer of its URLs.',
    }),
    tailrace_delivery_retry_lateness_seconds: histogram('seconds', {
      buckets: buckets.request,
      help: 'From the time a retry was due to its start.',
    }),
    tailrace_deliveries_in_flight: gauge('deliveries', {
      help: 'Deliveries being attempted now.',
    }),
    tailrace_deliveries_in_flight_limit: gauge('deliveries', {
      help: 'The most deliveries that are attempted at the same time.',
    }),
    tailrace_deliveries_queued: gauge('deliveries', {
      help: 'Deliveries waiting for their turn in a lane.',
    }),
    tailrace_deliveries_queued_limit: gauge('deliveries', {
      help: 'The most deliveries that wait for their turn in memory.',
    }),
    tailrace_deliveries_waiting: gauge('deliveries', {
      help: 'Deliveries read ahead from the tiers and not due yet.',
    }),
    tailrace_circuit_breakers: gauge('URLs', {
      labels: { state: { values: ['open', 'half-open'] } },
      help: 'URLs, and token servers, whose circuit breaker is in this state.',
    }),
    tailrace_circuit_breaker_open_seconds: gauge('seconds', {
      help: 'How long the circuit breaker that has been open longest has been open; 0 where none is open.',
    }),
    tailrace_egress_proxy_open_seconds: gauge('seconds', {
      help: 'How long the circuit breaker of the egress proxy has been open; 0 where it is closed, or there is none.',
    }),
    tailrace_token_requests_total: counter('requests', {
      labels: { outcome: { values: ['fetched', 'failed'] } },
      help: 'Requests to the token servers of destinations with `oauth2`, by what they brought.',
    }),
    tailrace_missing_partitions: gauge('partitions', {
      help: 'Partitions that tiers, replay topic or dead letters lack. Records for them wait to be written.',
    }),
  },
);
