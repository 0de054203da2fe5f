/** Metrics of delivery for each destination. They appear with the first event of a destination, not at 0. */
import { deadReasons } from '../label-values.ts';
import { type MetricSpec } from '../metric.ts';
import { attemptLabels } from './delivery.ts';

const services = ['delivery'] as const;
const page = '/metrics/destinations';

const destination_id = { bound: 'the existing destinations, and `unknown`' } as const;

export const destinationMetrics = {
  tailrace_destination_attempts_total: {
    type: 'counter',
    unit: 'attempts',
    labels: { destination_id, ...attemptLabels },
    services,
    page,
    help: 'Attempts, by outcome and reason.',
  },
  tailrace_destination_attempt_duration_seconds: {
    type: 'summary',
    unit: 'seconds',
    labels: { destination_id },
    services,
    page,
    help: 'From the start of an attempt to the last answer of its URLs.',
  },
  tailrace_destination_delivery_age_seconds: {
    type: 'summary',
    unit: 'seconds',
    labels: { destination_id },
    services,
    page,
    help: 'From the acceptance of an event to its delivery.',
  },
  tailrace_destination_dead_letters_total: {
    type: 'counter',
    unit: 'deliveries',
    labels: { destination_id, reason: { values: deadReasons } },
    services,
    page,
    help: 'Dead letters acknowledged by Kafka, by reason.',
  },
  tailrace_destination_deferred_total: {
    type: 'counter',
    unit: 'deliveries',
    labels: { destination_id },
    services,
    page,
    help: 'Deliveries written to a tier without an attempt, because the lane was full.',
  },
  tailrace_destination_behind_total: {
    type: 'counter',
    unit: 'deliveries',
    labels: { destination_id },
    services,
    page,
    help: 'Deliveries written to a tier to wait behind an earlier one of their user.',
  },
  tailrace_destination_parked_total: {
    type: 'counter',
    unit: 'deliveries',
    labels: { destination_id },
    services,
    page,
    help: 'Deliveries written to a tier without an attempt, because a circuit breaker was open.',
  },
  tailrace_destination_paused_total: {
    type: 'counter',
    unit: 'deliveries',
    labels: { destination_id },
    services,
    page,
    help: 'Deliveries written to the tier of a day without an attempt, because the destination was paused; once a day each.',
  },
  tailrace_destination_breaker_open_seconds: {
    type: 'gauge',
    unit: 'seconds',
    labels: { destination_id },
    services,
    page,
    help: 'How long a circuit breaker of the destination has been open; absent where none is open.',
  },
} as const satisfies Record<string, MetricSpec>;
