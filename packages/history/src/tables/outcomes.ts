/** Delivery outcomes by destination, for the progress of deletion requests. */
import type { DatabaseSync } from 'node:sqlite';
import { plain } from '../sqlite/row.ts';

export interface DestinationOutcomes {
  readonly destinationId: string;
  readonly delivered: number;
  readonly dead: number;
}

export function outcomeQueries(db: DatabaseSync) {
  // '0' is the byte after '/'.
  const find = db.prepare(`
    SELECT destination_id AS destinationId, sum(status = 'delivered') AS delivered, sum(status = 'dead') AS dead
    FROM deliveries INDEXED BY deliveries_by_event_id
    WHERE event_id > ?1 || '/' AND event_id < ?1 || '0' GROUP BY destination_id`);
  return {
    /** How many deliveries were delivered or are dead, of the events whose messageId begins with `group` and a slash. */
    outcomesOfEvents: (group: string): readonly DestinationOutcomes[] =>
      find.all(group).map((row) => plain<DestinationOutcomes>(row)),
  };
}
