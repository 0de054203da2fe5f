/** Queries of deliveries: lists by any filter, one delivery with its attempts, the deliveries of an event. */
import type { DatabaseSync } from 'node:sqlite';
import type { UrlAttempt } from '@tailrace/records';
import { bounded } from '../facts/bounded.ts';
import type { DeliveryRow, DeliveryStatus } from '../facts/delivery-row.ts';
import type { AttemptRow } from '../facts/facts.ts';
import { listQueries, wantedOf, type Slice } from '../sqlite/list.ts';
import { orNull, rowOf, textOf, type SqlRow } from '../sqlite/row.ts';
import { deliveryIndexes } from '../schema/schema.ts';

/** Absent fields match every delivery. Of several ids a delivery has one. Times are milliseconds since the epoch. */
export interface DeliveryFilter {
  readonly destinationId?: string | readonly string[] | undefined;
  readonly sourceId?: string | readonly string[] | undefined;
  readonly type?: string | undefined;
  readonly event?: string | undefined;
  readonly userKey?: string | undefined;
  readonly status?: DeliveryStatus | undefined;
  /** Created at this time or later. */
  readonly since?: number | undefined;
  /** Created before this time. */
  readonly until?: number | undefined;
}

/** The last delivery of a page. */
export interface DeliveryPosition {
  readonly createdAt: number;
  readonly id: string;
}

/** A delivery and its number of known attempts. */
export interface CountedDelivery extends DeliveryRow {
  readonly attempts: number;
}

export interface DeliveryQueries {
  /** Newest first. A slice may have fewer rows than `limit`, and the list may continue after it. */
  listDeliveries(
    filter: DeliveryFilter,
    limit: number,
    after?: DeliveryPosition,
  ): Slice<CountedDelivery, DeliveryPosition>;
  findDelivery(id: string): CountedDelivery | undefined;
  /** Oldest first. */
  attemptsOf(id: string): readonly AttemptRow[];
  /** By destination. */
  ofEvent(eventId: string): readonly CountedDelivery[];
}

const columns = [
  ['user_key', 'userKey'],
  ['event', 'event'],
  ['status', 'status'],
  ['destination_id', 'destinationId'],
  ['source_id', 'sourceId'],
  ['type', 'type'],
] as const;

const counted = '*, (SELECT count(*) FROM attempts WHERE delivery = deliveries.row) AS attempts';

/** Of `attempts` joined with `deliveries`. */
export const attemptColumns =
  'deliveries.id AS delivery_id, deliveries.destination_id AS destination_id, started_at, attempt, latency_ms, outcome, ' +
  'attempts.reason AS reason, attempts.next_due_at AS next_due_at, urls';

export function deliveryQueries(db: DatabaseSync): DeliveryQueries {
  const list = listQueries(db, {
    table: 'deliveries',
    select: counted,
    order: ['created_at', 'id'],
    indexes: deliveryIndexes,
    timeIndex: 'deliveries_by_time',
  });
  const find = db.prepare(`SELECT ${counted} FROM deliveries WHERE id = ?`);
  const ofEvent = db.prepare(
    `SELECT ${counted} FROM deliveries WHERE event_id = ? ORDER BY destination_id, id`,
  );
  const attemptsOf = db.prepare(`
    SELECT ${attemptColumns} FROM deliveries JOIN attempts ON attempts.delivery = deliveries.row
    WHERE deliveries.id = ? ORDER BY started_at, attempt`);

  return {
    listDeliveries(filter, limit, after) {
      const { rows, reached } = list({
        wanted: wantedOf(columns, filter),
        limit,
        since: filter.since,
        until: filter.until,
        after: after && [after.createdAt, after.id],
      });
      const [createdAt, id] = reached ?? [];
      return {
        rows: rows.map(countedRow),
        reached: reached && { createdAt: Number(createdAt), id: id as string },
      };
    },
    findDelivery(id) {
      const row = find.get(bounded(id));
      return row && countedRow(row);
    },
    attemptsOf: (id) => attemptsOf.all(bounded(id)).map(attemptRow),
    ofEvent: (eventId) => ofEvent.all(bounded(eventId)).map(countedRow),
  };
}

function countedRow(row: SqlRow): CountedDelivery {
  return { ...rowOf(row), attempts: Number(row['attempts']) };
}

export function attemptRow(row: SqlRow): AttemptRow {
  return {
    deliveryId: textOf(row, 'delivery_id'),
    destinationId: textOf(row, 'destination_id'),
    attempt: Number(row['attempt']),
    startedAt: Number(row['started_at']),
    latencyMs: Number(row['latency_ms']),
    outcome: textOf(row, 'outcome') as AttemptRow['outcome'],
    reason: orNull(row['reason'], String),
    nextDueAt: orNull(row['next_due_at'], Number),
    urls: JSON.parse(textOf(row, 'urls')) as UrlAttempt[],
  };
}
