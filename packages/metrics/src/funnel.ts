/**
 * The equations of the funnel. After a drain, over all replicas that have run, both sides are equal: every call, event and
 * delivery has an exit with a reason. Only a crash, which loses the counts of a process, makes them differ.
 */
import type { MetricName } from './catalogue.ts';
import type { Service } from './metric.ts';

/** All series of a metric, or those with these labels. */
export interface Term {
  readonly name: MetricName;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface Equation {
  readonly service: Service;
  /** The things that are counted. */
  readonly unit: string;
  readonly left: readonly Term[];
  readonly right: readonly Term[];
}

export const funnel: readonly Equation[] = [
  {
    service: 'ingest',
    unit: 'calls',
    left: [{ name: 'tailrace_ingest_calls_received_total' }],
    right: [
      { name: 'tailrace_ingest_calls_total' },
      { name: 'tailrace_ingest_rejected_total' },
      { name: 'tailrace_ingest_calls_refused_total' },
    ],
  },
  {
    service: 'router',
    unit: 'events',
    left: [{ name: 'tailrace_router_events_received_total' }],
    right: [
      { name: 'tailrace_events_routed_total' },
      { name: 'tailrace_events_duplicate_total' },
      { name: 'tailrace_events_rejected_total' },
      { name: 'tailrace_router_events_expired_total' },
      { name: 'tailrace_router_events_revoked_total' },
    ],
  },
  {
    service: 'router',
    unit: 'deliveries',
    left: [{ name: 'tailrace_deliveries_considered_total' }],
    right: [{ name: 'tailrace_deliveries_created_total' }, { name: 'tailrace_deliveries_filtered_total' }],
  },
  {
    service: 'delivery',
    unit: 'deliveries',
    left: [
      { name: 'tailrace_deliveries_created_total' },
      { name: 'tailrace_deliveries_replayed_total' },
      // Records that another program has written to the topics of deliveries.
      { name: 'tailrace_dead_letters_total', labels: { reason: 'malformed-record' } },
    ],
    right: [{ name: 'tailrace_deliveries_ended_total' }],
  },
  {
    service: 'delivery',
    unit: 'deliveries',
    left: [{ name: 'tailrace_deliveries_ended_total', labels: { outcome: 'dead' } }],
    right: [{ name: 'tailrace_dead_letters_total' }],
  },
  {
    service: 'delivery',
    unit: 'deliveries',
    left: [{ name: 'tailrace_deliveries_ended_total', labels: { outcome: 'delivered' } }],
    right: [{ name: 'tailrace_delivery_attempts_total', labels: { outcome: 'delivered' } }],
  },
];
