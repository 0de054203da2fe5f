/** The router's metrics: events received, their outcomes, and the lag of the consumer. */
import type { ConfigView } from '@tailrace/config';
import type { ErrorCode } from '@tailrace/errors';
import type { EventType } from '@tailrace/events';
import type { Consumption } from '@tailrace/kafka';
import type { FilterReason } from '@tailrace/routing';
import { CountsById, watchLag, type Metrics } from '@tailrace/service';
import type { MessageIds } from './deduplication/message-ids.ts';

/** Each event counts as routed, duplicate or rejected. Published records count once Kafka has acknowledged them. */
export interface RouterMetrics {
  /** Counts an event that is valid and new, also where it is filtered. */
  countRouted(sourceId: string, type: EventType): void;
  countDelivery(destinationId: string): void;
  readonly duplicates: { inc(): void };
  readonly rejected: { inc(labels: { code: ErrorCode }): void };
  /** Counts destinations that a routed event does not go to. */
  readonly filtered: { inc(labels: { reason: FilterReason }): void };
}

export function createRouterMetrics(
  metrics: Metrics,
  config: Pick<ConfigView, 'source' | 'destination' | 'onChange'>,
): RouterMetrics {
  // Plain numbers, because each event increments several of them.
  const routed: Partial<Record<EventType, number>> = {};
  let deliveries = 0;
  const bySource = new CountsById(
    () => ({ events: 0 }),
    (id) => config.source(id) !== undefined,
  );
  const byDestination = new CountsById(
    () => ({ created: 0 }),
    (id) => config.destination(id) !== undefined,
  );
  config.onChange(({ kind, id }) => {
    (kind === 'source' ? bySource : byDestination).changed(id);
  });
  metrics.counter('tailrace_events_routed_total', 'Events that were valid and new, by type.', ['type'], () =>
    Object.entries(routed).map(([type, value]) => ({ labels: { type }, value })),
  );
  metrics.counter(
    'tailrace_deliveries_created_total',
    'Deliveries that Kafka has acknowledged.',
    [],
    () => deliveries,
  );
  metrics.pages.sources.add({
    name: 'tailrace_source_events_total',
    help: "Events that count toward a source's usage, filtered ones included.",
    type: 'counter',
    *samples() {
      for (const [id, { events }] of bySource) yield { labels: { source_id: id }, value: events };
    },
  });
  metrics.pages.destinations.add({
    name: 'tailrace_destination_deliveries_created_total',
    help: 'Deliveries that Kafka has acknowledged.',
    type: 'counter',
    *samples() {
      for (const [id, { created }] of byDestination) yield { labels: { destination_id: id }, value: created };
    },
  });
  return {
    countRouted(sourceId, type) {
      routed[type] = (routed[type] ?? 0) + 1;
      bySource.of(sourceId).events += 1;
    },
    countDelivery(destinationId) {
      deliveries += 1;
      byDestination.of(destinationId).created += 1;
    },
    duplicates: metrics.counter(
      'tailrace_events_duplicate_total',
      'Events dropped because their messageId was seen before.',
    ),
    rejected: metrics.counter(
      'tailrace_events_rejected_total',
      'Records that could not be used, by error code, once events.rejected has them.',
      ['code'],
    ),
    filtered: metrics.counter(
      'tailrace_deliveries_filtered_total',
      'Destinations that an event did not go to, by reason.',
      ['reason'],
    ),
  };
}

/** Gauges that are read at each scrape. */
export function addGauges(metrics: Metrics, messageIds: MessageIds, consumption: Consumption): void {
  metrics.gauge('tailrace_remembered_message_ids', 'Message ids by which repeated events are recognised.', {
    read: () => messageIds.size,
  });
  watchLag(metrics, consumption);
}
