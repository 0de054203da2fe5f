/** Queries of deliveries: lists by any filter, one delivery with its attempts, the deliveries of an event. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { UrlAttempt } from '@tailrace/topics';
import type { DeliveryRow, DeliveryStatus } from './delivery-row.ts';
import type { AttemptRow } from './facts.ts';
import { orNull, rowOf, textOf, type SqlRow } from './row.ts';
import { deliveryIndexes, type FilterColumn } from './schema.ts';

/** Absent fields match every delivery. Times are milliseconds since the epoch. */
export interface DeliveryFilter {
  readonly destinationId?: string | undefined;
  readonly sourceId?: string | undefined;
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
  /** Newest first. */
  list(filter: DeliveryFilter, limit: number, after?: DeliveryPosition): readonly CountedDelivery[];
  find(id: string): CountedDelivery | undefined;
  /** Oldest first. */
  attemptsOf(id: string): readonly AttemptRow[];
  /** By destination. */
  ofEvent(eventId: string): readonly CountedDelivery[];
}

const columns: readonly (readonly [FilterColumn, keyof DeliveryFilter])[] = [
  ['user_key', 'userKey'],
  ['event', 'event'],
  ['status', 'status'],
  ['destination_id', 'destinationId'],
  ['source_id', 'sourceId'],
  ['type', 'type'],
];
/** Limit when the rows of a filter are counted to choose an index. */
const countedRows = 2_000;

export function deliveryQueries(db: DatabaseSync): DeliveryQueries {
  const statements = new Map<string, ReturnType<DatabaseSync['prepare']>>();
  const prepared = (sql: string): ReturnType<DatabaseSync['prepare']> => {
    const statement = statements.get(sql) ?? db.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  const counted =
    'SELECT *, (SELECT count(*) FROM attempts WHERE delivery_id = id) AS attempts FROM deliveries';

  /**
   * SQLite does not know how many rows have a value: one filter may match a million rows and another ten. So the rows of
   * each filter are counted up to a limit, and the list is read by the index with the fewest rows.
   */
  const bestIndex = (given: readonly (readonly [FilterColumn, SQLInputValue])[]): string => {
    let best = 'deliveries_by_time';
    let fewest = Infinity;
    for (const [column, value] of given) {
      const index = deliveryIndexes[column];
      const rows =
        given.length === 1
          ? 0
          : Number(
              prepared(
                `SELECT count(*) AS rows FROM (SELECT 1 FROM deliveries INDEXED BY ${index} ` +
                  `WHERE ${column} = ? LIMIT ${countedRows})`,
              ).get(value)?.['rows'],
            );
      if (rows < fewest) [best, fewest] = [index, rows];
    }
    return best;
  };

  return {
    list(filter, limit, after) {
      const given = columns.flatMap(([column, name]) => {
        const value = filter[name];
        return value === undefined ? [] : [[column, value] as const];
      });
      const conditions = given.map(([column]) => `${column} = ?`);
      const values: SQLInputValue[] = given.map(([, value]) => value);
      const add = (condition: string, ...more: SQLInputValue[]): void => {
        conditions.push(condition);
        values.push(...more);
      };
      if (filter.since !== undefined) add('created_at >= ?', filter.since);
      if (filter.until !== undefined) add('created_at < ?', filter.until);
      if (after) add('(created_at, id) < (?, ?)', after.createdAt, after.id);
      const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
      const rows = prepared(
        `${counted} INDEXED BY ${bestIndex(given)} ${where} ORDER BY created_at DESC, id DESC LIMIT ?`,
      ).all(...values, limit);
      return rows.map(countedRow);
    },
    find(id) {
      const row = prepared(`${counted} WHERE id = ?`).get(id);
      return row && countedRow(row);
    },
    attemptsOf: (id) =>
      prepared('SELECT * FROM attempts WHERE delivery_id = ? ORDER BY started_at, attempt')
        .all(id)
        .map(attemptRow),
    ofEvent: (eventId) =>
      prepared(`${counted} WHERE event_id = ? ORDER BY destination_id, id`).all(eventId).map(countedRow),
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
