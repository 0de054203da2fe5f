/** The decisions of the router about events that did not become a delivery for each connected destination. */
import type { DatabaseSync } from 'node:sqlite';
import {
  bounded,
  boundedOrNull,
  decisionLimits,
  type Decision,
  type DecisionGroup,
  type DecisionRule,
} from '@tailrace/records';
import type { StoredDecision } from '../facts/facts.ts';
import { listQueries, type ListFilter } from '../sqlite/list.ts';
import { orNull, textOf, type SqlRow } from '../sqlite/row.ts';
import { filteredIndexes } from '../schema/schema.ts';

/** An event that a destination did not get. */
export interface FilteredEvent {
  readonly eventId: string;
  readonly decidedAt: number;
  readonly sourceId: string;
  /** Undefined where none was connected. */
  readonly destinationId: string | undefined;
  readonly type: string;
  readonly event: string | null;
  readonly userKey: string;
  /** Of the router, or {@link noDestination}. */
  readonly reason: string;
  readonly rule: DecisionRule | undefined;
}

/** The reason of an event whose source was connected to no destination. */
export const noDestination = 'no-destination';

const columns = {
  destinationId: 'destination_id',
  reason: 'reason',
  sourceId: 'source_id',
  userKey: 'user_key',
} as const;

export type FilteredEventFilter = ListFilter<keyof typeof columns>;

/** Of one event. Its messageId may be used again after the window in which repeats are dropped. */
const mostDecisions = 20;

export function decisionQueries(db: DatabaseSync) {
  const find = db.prepare(
    `SELECT * FROM decisions WHERE event_id = ? ORDER BY decided_at DESC, source_id DESC LIMIT ${mostDecisions}`,
  );
  return {
    /** Oldest first; more than one where the event was routed again, as after a crash. */
    decisionsOf: (eventId: string): readonly Decision[] =>
      find
        .all(bounded(eventId))
        .map((row) => ({
          eventId,
          sourceId: textOf(row, 'source_id'),
          type: textOf(row, 'type'),
          decidedAt: Number(row['decided_at']),
          routed: Number(row['routed']),
          filtered: groupsOf(row),
        }))
        .reverse(),
    listFilteredEvents: listQueries(db, {
      table: 'filtered_events',
      from: 'filtered_events JOIN decisions ON decisions.row = filtered_events.decision',
      select: 'filtered_events.*, type, event, filtered',
      order: ['decided_at', 'event_id', 'source_id', 'destination_id'],
      columns,
      indexes: filteredIndexes,
      timeIndex: 'filtered_events_by_time',
      rowOf: filteredEventOf,
    }),
  };
}

function filteredEventOf(row: SqlRow): FilteredEvent {
  const [destinationId, reason] = [textOf(row, 'destination_id'), textOf(row, 'reason')];
  const group = groupsOf(row).find(
    (one) => bounded(one.reason) === reason && one.destinations.some((id) => bounded(id) === destinationId),
  );
  return {
    eventId: textOf(row, 'event_id'),
    decidedAt: Number(row['decided_at']),
    sourceId: textOf(row, 'source_id'),
    destinationId: destinationId === '' ? undefined : destinationId,
    type: textOf(row, 'type'),
    event: orNull(row['event'], String),
    userKey: textOf(row, 'user_key'),
    reason,
    rule: group?.rule,
  };
}

function groupsOf(row: SqlRow): DecisionGroup[] {
  return JSON.parse(textOf(row, 'filtered')) as DecisionGroup[];
}

/** Returns a function that writes a decision, and returns whether it was new; one that is already stored is left as it is. */
export function decisionWriter(db: DatabaseSync): (decision: StoredDecision) => boolean {
  const insert = db.prepare(`
    INSERT OR IGNORE INTO decisions (event_id, decided_at, source_id, type, event, user_key, routed, filtered, exits)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const insertFiltered = db.prepare(`
    INSERT INTO filtered_events (decision, decided_at, event_id, source_id, destination_id, reason, user_key)
    VALUES (?, ?, ?, ?, ?, ?, ?)`);
  return (decision) => {
    const { decidedAt, event, routed, filtered } = decision;
    const [eventId, sourceId] = [bounded(decision.eventId), bounded(decision.sourceId)];
    const userKey = bounded(decision.userKey);
    const exits = exitsOf(decision);
    const { changes, lastInsertRowid } = insert.run(
      eventId,
      decidedAt,
      sourceId,
      bounded(decision.type),
      boundedOrNull(event),
      userKey,
      routed,
      JSON.stringify(filtered),
      exits.length,
    );
    if (changes === 0) return false;
    for (const [destinationId, reason] of exits) {
      insertFiltered.run(
        lastInsertRowid,
        decidedAt,
        eventId,
        sourceId,
        bounded(destinationId),
        bounded(reason),
        userKey,
      );
    }
    return true;
  };
}

/** The destinations that did not get the event. The router lists no more than the limit; another program might. */
function exitsOf({ routed, filtered }: Decision): (readonly [destinationId: string, reason: string])[] {
  if (routed === 0 && filtered.length === 0) return [['', noDestination]];
  return filtered
    .flatMap(({ reason, destinations }) => destinations.map((id) => [id, reason] as const))
    .slice(0, decisionLimits.destinations);
}
