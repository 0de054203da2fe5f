/** Metrics of the router. funnel.ts says how they add up. */
import { eventTypes, filterReasons, rejectionCodes, transformOutcomes } from '../label-values.ts';
import { buckets, counter, gauge, histogram, metricsOf } from '../metric.ts';

export const routerMetrics = {
  ...metricsOf(
    { services: ['router'] },
    {
      tailrace_router_events_received_total: counter('events', {
        help: 'Records of the topic events, each once, also where it waits for its schema in events.waiting. A batch that cannot be read counts as one.',
      }),
      tailrace_events_routed_total: counter('events', {
        labels: { type: { values: eventTypes } },
        help: 'Events that were valid and new, by type.',
      }),
      tailrace_events_duplicate_total: counter('events', {
        help: 'Events dropped because their messageId was seen before with the same content.',
      }),
      tailrace_events_reused_id_total: counter('events', {
        help: 'Events that were routed although their messageId was seen before, because their content was another.',
      }),
      tailrace_events_rejected_total: counter('events', {
        labels: { code: { values: rejectionCodes } },
        help: 'Records that could not be used, by error code, once events.rejected has them.',
      }),
      tailrace_router_events_expired_total: counter('events', {
        help: 'Records that expired in events.waiting before their schemas were known.',
      }),
      tailrace_router_events_revoked_total: counter('events', {
        help: 'Records whose partition was revoked before they were processed. The new owner receives them again.',
      }),
      tailrace_deliveries_considered_total: counter('deliveries', {
        help: 'Connected destinations of routed events, each for each event, disabled ones included.',
      }),
      tailrace_deliveries_created_total: counter('deliveries', {
        help: 'Deliveries that Kafka has acknowledged.',
      }),
      tailrace_deliveries_filtered_total: counter('deliveries', {
        labels: { reason: { values: filterReasons } },
        help: 'Destinations that an event did not go to, by reason.',
      }),
      tailrace_routing_delay_seconds: histogram('seconds', {
        buckets: buckets.age,
        help: 'From the acceptance of an event until Kafka has its deliveries.',
      }),
      tailrace_transform_runs_total: counter('runs', {
        labels: { outcome: { values: transformOutcomes } },
        help: 'Runs of the transforms of destinations, by outcome. A skipped one was not made, because its function takes too long and too many events wait for it.',
      }),
      tailrace_transform_cpu_seconds_total: counter('seconds', {
        help: 'CPU time that the functions of transforms have used.',
      }),
      tailrace_transform_waiting: gauge('deliveries', {
        help: 'Deliveries that wait for the transform of their destination.',
      }),
      tailrace_transform_threads_ended_total: counter('threads', {
        help: 'Threads that were ended and replaced, because a function did not end.',
      }),
      tailrace_remembered_message_ids: gauge('ids', {
        help: 'Message ids by which repeated events are recognised.',
      }),
    },
  ),
  ...metricsOf(
    { services: ['router'], page: '/metrics/sources' },
    {
      tailrace_source_events_total: counter('events', {
        labels: { source_id: { bound: 'the existing sources' } },
        help: "Events that count toward a source's usage, filtered ones included.",
      }),
    },
  ),
  ...metricsOf(
    { services: ['router'], page: '/metrics/destinations' },
    {
      tailrace_destination_deliveries_created_total: counter('deliveries', {
        labels: { destination_id: { bound: 'the existing destinations' } },
        help: 'Deliveries that Kafka has acknowledged.',
      }),
    },
  ),
};
