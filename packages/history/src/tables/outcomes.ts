/** Delivery outcomes by event, for the progress of deletion requests. */
import type { DatabaseSync } from 'node:sqlite';
import { bounded } from '../facts/bounded.ts';
import type { DeliveryStatus } from '../facts/delivery-row.ts';
import { textOf } from '../sqlite/row.ts';

/** Ids of destinations. */
export interface EventOutcomes {
  readonly delivered: readonly string[];
  readonly dead: readonly string[];
  /** Not attempted yet, waiting for a retry, or ended without a known outcome. */
  readonly waiting: readonly string[];
}

const kinds = {
  delivered: 'delivered',
  dead: 'dead',
  waiting: 'waiting',
  retrying: 'waiting',
  unknown: 'waiting',
} as const;

export function outcomeQueries(db: DatabaseSync) {
  const find = db.prepare(
    'SELECT destination_id, status FROM deliveries WHERE event_id = ? ORDER BY destination_id',
  );
  return {
    /** The outcomes of each event's deliveries, by messageId; events without deliveries are left out. */
    outcomesOfEvents(eventIds: readonly string[]): ReadonlyMap<string, EventOutcomes> {
      const outcomes = new Map<string, EventOutcomes>();
      for (const eventId of new Set(eventIds)) {
        const rows = find.all(bounded(eventId));
        if (rows.length === 0) continue;
        const found: Record<keyof EventOutcomes, string[]> = { delivered: [], dead: [], waiting: [] };
        for (const row of rows) {
          found[kinds[textOf(row, 'status') as DeliveryStatus]].push(textOf(row, 'destination_id'));
        }
        outcomes.set(eventId, found);
      }
      return outcomes;
    },
  };
}
