/** Queries of deliveries: lists by any filter, one delivery with its attempts, the deliveries of an event. */
import type { DatabaseSync } from 'node:sqlite';
import type { UrlAttempt } from '@tailrace/records';
import { bounded } from '../facts/bounded.ts';
import type { DeliveryRow } from '../facts/delivery-row.ts';
import type { AttemptRow, Resend } from '../facts/facts.ts';
import { listQueries, type ListFilter } from '../sqlite/list.ts';
import { plain, rowOf, type SqlRow } from '../sqlite/row.ts';
import { deliveryIndexes } from '../schema/schema.ts';

/** A delivery and its number of known attempts. */
export interface CountedDelivery extends DeliveryRow {
  readonly attempts: number;
}

const columns = {
  userKey: 'user_key',
  event: 'event',
  status: 'status',
  destinationId: 'destination_id',
  sourceId: 'source_id',
  type: 'type',
} as const;

export type DeliveryFilter = ListFilter<keyof typeof columns>;

const counted = '*, (SELECT count(*) FROM attempts WHERE delivery = deliveries.row) AS attempts';

/** The fields of an attempt, of `attempts` joined with `deliveries`. */
export const attemptColumns =
  'deliveries.id AS deliveryId, deliveries.destination_id AS destinationId, started_at AS startedAt, attempt, ' +
  'latency_ms AS latencyMs, outcome, attempts.reason AS reason, attempts.next_due_at AS nextDueAt, urls';

export function deliveryQueries(db: DatabaseSync) {
  const find = db.prepare(`SELECT ${counted} FROM deliveries WHERE id = ?`);
  const ofEvent = db.prepare(
    `SELECT ${counted} FROM deliveries WHERE event_id = ? ORDER BY destination_id, id`,
  );
  const attemptsOf = db.prepare(`
    SELECT ${attemptColumns} FROM deliveries JOIN attempts ON attempts.delivery = deliveries.row
    WHERE deliveries.id = ? ORDER BY started_at, attempt`);
  const resendsOf = db.prepare(`
    SELECT at, name AS "by" FROM resends JOIN deliveries ON deliveries.row = resends.delivery
    WHERE deliveries.id = ? ORDER BY at`);

  return {
    listDeliveries: listQueries(db, {
      table: 'deliveries',
      select: counted,
      order: ['created_at', 'id'],
      columns,
      indexes: deliveryIndexes,
      timeIndex: 'deliveries_by_time',
      rowOf: countedRow,
    }),
    findDelivery(id: string): CountedDelivery | undefined {
      const row = find.get(bounded(id));
      return row && countedRow(row);
    },
    /** Oldest first. */
    attemptsOf: (id: string): readonly AttemptRow[] => attemptsOf.all(bounded(id)).map(attemptRow),
    /** Oldest first. */
    resendsOf: (id: string): readonly Resend[] => resendsOf.all(bounded(id)).map(plain<Resend>),
    /** By destination. */
    ofEvent: (eventId: string): readonly CountedDelivery[] => ofEvent.all(bounded(eventId)).map(countedRow),
  };
}

function countedRow(row: SqlRow): CountedDelivery {
  return { ...rowOf(row), attempts: Number(row['attempts']) };
}

export function attemptRow({ urls, ...row }: SqlRow): AttemptRow {
  return { ...plain<AttemptRow>(row), urls: JSON.parse(String(urls)) as UrlAttempt[] };
}
