/** The router's metrics: events received, and their outcomes. */
import type { ConfigView } from '@tailrace/config';
import { eventTypes, type EventType } from '@tailrace/events';
import { transformOutcomes } from '@tailrace/metrics';
import { CountsById, type Metrics } from '@tailrace/service';
import type { TransformResult } from '@tailrace/transform';

export type RouterMetrics = ReturnType<typeof createRouterMetrics>;

/**
 * Each received record ends as routed, duplicate, rejected, expired or revoked. Published records count once Kafka has
 * acknowledged them.
 */
export function createRouterMetrics(
  metrics: Metrics,
  config: Pick<ConfigView, 'source' | 'destination' | 'onChange'>,
) {
  // Plain numbers, because each event increments several of them.
  const routed: Partial<Record<EventType, number>> = {};
  let received = 0;
  let considered = 0;
  let created = 0;
  const transformed = { body: 0, filtered: 0, failed: 0, skipped: 0 };
  let cpuSeconds = 0;
  const bySource = new CountsById(
    () => ({ events: 0 }),
    (id) => config.source(id) !== undefined,
  );
  const byDestination = new CountsById(
    () => ({ created: 0 }),
    (id) => config.destination(id) !== undefined,
  );
  config.onChange(({ kind, id }) => {
    if (kind === 'source') bySource.changed(id);
    else if (kind === 'destination') byDestination.changed(id);
  });
  metrics.counter('tailrace_router_events_received_total', () => received);
  metrics.counter('tailrace_events_routed_total', () =>
    eventTypes.map((type) => ({ labels: { type }, value: routed[type] ?? 0 })),
  );
  metrics.counter('tailrace_deliveries_considered_total', () => considered);
  metrics.counter('tailrace_deliveries_created_total', () => created);
  metrics.counter('tailrace_transform_runs_total', () =>
    transformOutcomes.map((outcome) => ({ labels: { outcome }, value: transformed[outcome] })),
  );
  metrics.counter('tailrace_transform_cpu_seconds_total', () => cpuSeconds);
  const delay = metrics.histogram('tailrace_routing_delay_seconds').of({});
  metrics.pages.sources.add('tailrace_source_events_total', function* () {
    for (const [source_id, { events }] of bySource) yield { labels: { source_id }, value: events };
  });
  metrics.pages.destinations.add('tailrace_destination_deliveries_created_total', function* () {
    for (const [destination_id, { created }] of byDestination) {
      yield { labels: { destination_id }, value: created };
    }
  });
  return {
    /** Counts a record of `events`, or a batch of them that cannot be read. */
    countReceived(): void {
      received += 1;
    },
    /** Counts an event that is valid and new, and the destinations that it might go to. */
    countRouted(sourceId: string, type: EventType, destinations: number): void {
      routed[type] = (routed[type] ?? 0) + 1;
      considered += destinations;
      bySource.of(sourceId).events += 1;
    },
    countDelivery(destinationId: string): void {
      created += 1;
      byDestination.of(destinationId).created += 1;
    },
    /** Milliseconds from the acceptance of an event until Kafka has its deliveries. */
    observeDelay(delayMs: number): void {
      delay.observe(delayMs / 1_000);
    },
    duplicates: metrics.counter('tailrace_events_duplicate_total'),
    /** Routed events whose messageId was used before with other content. */
    reusedIds: metrics.counter('tailrace_events_reused_id_total'),
    rejected: metrics.counter('tailrace_events_rejected_total'),
    /** Records whose partition was revoked before they were processed. The new owner receives them again. */
    revoked: metrics.counter('tailrace_router_events_revoked_total'),
    expired: metrics.counter('tailrace_router_events_expired_total'),
    transforms: {
      ran({ outcome, cpuMs }: TransformResult): void {
        transformed[outcome] += 1;
        cpuSeconds += cpuMs / 1_000;
      },
      skipped(): void {
        transformed.skipped += 1;
      },
      threadsEnded: metrics.counter('tailrace_transform_threads_ended_total'),
    },
    /** Destinations that a routed event does not go to. */
    filtered: metrics.counter('tailrace_deliveries_filtered_total'),
  };
}
