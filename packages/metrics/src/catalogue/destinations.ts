/** Metrics of delivery for each destination. They appear with the first event of a destination, not at 0. */
import { deadReasons } from '../label-values.ts';
import { counter, gauge, summary, metricsOf } from '../metric.ts';
import { attemptLabels } from './delivery.ts';

const destination_id = { bound: 'the existing destinations, and `unknown`' } as const;

export const destinationMetrics = metricsOf(
  { services: ['delivery'], page: '/metrics/destinations' },
  {
    tailrace_destination_attempts_total: counter('attempts', {
      labels: { destination_id, ...attemptLabels },
      help: 'Attempts, by outcome and reason.',
    }),
    tailrace_destination_attempt_duration_seconds: summary('seconds', {
      labels: { destination_id },
      help: 'From the start of an attempt to the last answer of its URLs.',
    }),
    tailrace_destination_delivery_age_seconds: summary('seconds', {
      labels: { destination_id },
      help: 'From the acceptance of an event to its delivery.',
    }),
    tailrace_destination_dead_letters_total: counter('deliveries', {
      labels: { destination_id, reason: { values: deadReasons } },
      help: 'Dead letters acknowledged by Kafka, by reason.',
    }),
    tailrace_destination_deferred_total: counter('deliveries', {
      labels: { destination_id },
      help: 'Deliveries written to a tier without an attempt, because the lane was full.',
    }),
    tailrace_destination_behind_total: counter('deliveries', {
      labels: { destination_id },
      help: 'Deliveries written to a tier to wait behind an earlier one of their user.',
    }),
    tailrace_destination_parked_total: counter('deliveries', {
      labels: { destination_id },
      help: 'Deliveries written to a tier without an attempt, because a circuit breaker was open.',
    }),
    tailrace_destination_paused_total: counter('deliveries', {
      labels: { destination_id },
      help: 'Deliveries written to the tier of a day without an attempt, because the destination was paused; once a day each.',
    }),
    tailrace_destination_breaker_open_seconds: gauge('seconds', {
      labels: { destination_id },
      help: 'How long a circuit breaker of the destination has been open; absent where none is open.',
    }),
  },
);
