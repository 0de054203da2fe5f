/** The router's metrics: what came in, what became of it, and how far behind it is. */
import type { ConfigView } from '@tailrace/config';
import type { EventType } from '@tailrace/events';
import type { Consumption } from '@tailrace/kafka';
import { CountsById, watchLag, type Metrics } from '@tailrace/service';
import type { Dedupe } from './dedupe.ts';
import type { Rejection } from './rejected.ts';
import type { FilterReason } from '@tailrace/routing';

/** What is worth counting. Each event is accepted, repeated or rejected; what is published counts once it is acknowledged. */
export interface RouterObserver {
  /** A call of the source that is valid and new; it counts toward the source's usage, also where it is filtered. */
  accepted(sourceId: string, type: EventType): void;
  repeated(): void;
  rejected(code: Rejection['code']): void;
  /** One destination does not get an accepted event. */
  filtered(reason: FilterReason): void;
  /** One destination gets an accepted event. */
  created(destinationId: string): void;
}

export function routerObserver(
  metrics: Metrics,
  config: Pick<ConfigView, 'source' | 'destination' | 'onChange'>,
): RouterObserver {
  // Plain numbers, because each event counts in several ways.
  const routed: Partial<Record<EventType, number>> = {};
  let createdInAll = 0;
  const ofSource = new CountsById(
    () => ({ events: 0 }),
    (id) => config.source(id) !== undefined,
  );
  const ofDestination = new CountsById(
    () => ({ created: 0 }),
    (id) => config.destination(id) !== undefined,
  );
  config.onChange(({ kind, id }) => {
    (kind === 'source' ? ofSource : ofDestination).changed(id);
  });
  metrics.counter('tailrace_events_routed_total', 'Events that were valid and new, by type.', ['type'], () =>
    Object.entries(routed).map(([type, value]) => ({ labels: { type }, value })),
  );
  metrics.counter(
    'tailrace_deliveries_created_total',
    'Deliveries that Kafka has acknowledged.',
    [],
    () => createdInAll,
  );
  metrics.pages.sources.add({
    name: 'tailrace_source_events_total',
    help: "Events that count toward a source's usage; filtered ones do.",
    type: 'counter',
    *samples() {
      for (const [id, { events }] of ofSource) yield { labels: { source_id: id }, value: events };
    },
  });
  metrics.pages.destinations.add({
    name: 'tailrace_destination_deliveries_created_total',
    help: 'Deliveries that Kafka has acknowledged.',
    type: 'counter',
    *samples() {
      for (const [id, { created }] of ofDestination) yield { labels: { destination_id: id }, value: created };
    },
  });
  const repeated = metrics.counter(
    'tailrace_events_duplicate_total',
    'Events dropped because their messageId was seen before.',
  );
  const rejected = metrics.counter(
    'tailrace_events_rejected_total',
    'Records that could not be used, by error code, once events.rejected has them.',
    ['code'],
  );
  const filtered = metrics.counter(
    'tailrace_deliveries_filtered_total',
    'Destinations that an event did not go to, by reason.',
    ['reason'],
  );
  return {
    accepted(sourceId, type) {
      routed[type] = (routed[type] ?? 0) + 1;
      ofSource.of(sourceId).events += 1;
    },
    repeated() {
      repeated.inc();
    },
    rejected(code) {
      rejected.inc({ code });
    },
    filtered(reason) {
      filtered.inc({ reason });
    },
    created(destinationId) {
      createdInAll += 1;
      ofDestination.of(destinationId).created += 1;
    },
  };
}

/** Gauges that are read at each scrape. */
export function watchRouter(metrics: Metrics, dedupe: Dedupe, consumption: Consumption): void {
  metrics.gauge('tailrace_remembered_message_ids', 'Ids that a repeated event would be known by.', {
    read: () => dedupe.size,
  });
  watchLag(metrics, consumption);
}
