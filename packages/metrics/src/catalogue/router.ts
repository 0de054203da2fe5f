/** Metrics of the router. funnel.ts says how they add up. */
import { eventTypes, filterReasons, rejectionCodes } from '../label-values.ts';
import { buckets, type MetricSpec } from '../metric.ts';

const services = ['router'] as const;

export const routerMetrics = {
  tailrace_router_events_received_total: {
    type: 'counter',
    unit: 'events',
    services,
    help: 'Records of the topic events, each once, also where it waits for its schema in events.waiting. A batch that cannot be read counts as one.',
  },
  tailrace_events_routed_total: {
    type: 'counter',
    unit: 'events',
    labels: { type: { values: eventTypes } },
    services,
    help: 'Events that were valid and new, by type.',
  },
  tailrace_events_duplicate_total: {
    type: 'counter',
    unit: 'events',
    services,
    help: 'Events dropped because their messageId was seen before with the same content.',
  },
  tailrace_events_reused_id_total: {
    type: 'counter',
    unit: 'events',
    services,
    help: 'Events that were routed although their messageId was seen before, because their content was another.',
  },
  tailrace_events_rejected_total: {
    type: 'counter',
    unit: 'events',
    labels: { code: { values: rejectionCodes } },
    services,
    help: 'Records that could not be used, by error code, once events.rejected has them.',
  },
  tailrace_router_events_expired_total: {
    type: 'counter',
    unit: 'events',
    services,
    help: 'Records that expired in events.waiting before their schemas were known.',
  },
  tailrace_router_events_revoked_total: {
    type: 'counter',
    unit: 'events',
    services,
    help: 'Records whose partition was revoked before they were processed. The new owner receives them again.',
  },
  tailrace_deliveries_considered_total: {
    type: 'counter',
    unit: 'deliveries',
    services,
    help: 'Connected destinations of routed events, each for each event, disabled ones included.',
  },
  tailrace_deliveries_created_total: {
    type: 'counter',
    unit: 'deliveries',
    services,
    help: 'Deliveries that Kafka has acknowledged.',
  },
  tailrace_deliveries_filtered_total: {
    type: 'counter',
    unit: 'deliveries',
    labels: { reason: { values: filterReasons } },
    services,
    help: 'Destinations that an event did not go to, by reason.',
  },
  tailrace_routing_delay_seconds: {
    type: 'histogram',
    unit: 'seconds',
    buckets: buckets.age,
    services,
    help: 'From the acceptance of an event until Kafka has its deliveries.',
  },
  tailrace_remembered_message_ids: {
    type: 'gauge',
    unit: 'ids',
    services,
    help: 'Message ids by which repeated events are recognised.',
  },
  tailrace_source_events_total: {
    type: 'counter',
    unit: 'events',
    labels: { source_id: { bound: 'the existing sources' } },
    services,
    page: '/metrics/sources',
    help: "Events that count toward a source's usage, filtered ones included.",
  },
  tailrace_destination_deliveries_created_total: {
    type: 'counter',
    unit: 'deliveries',
    labels: { destination_id: { bound: 'the existing destinations' } },
    services,
    page: '/metrics/destinations',
    help: 'Deliveries that Kafka has acknowledged.',
  },
} as const satisfies Record<string, MetricSpec>;
