/** Queries of deliveries: lists by any filter, one delivery with its attempts, the deliveries of an event. */
import type { DatabaseSync } from 'node:sqlite';
import { bounded, type UrlAttempt } from '@tailrace/records';
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

/** Of the deliveries of one messageId. */
const ofEventLimits = { returned: 500, read: 5_000 };

export function deliveryQueries(db: DatabaseSync) {
  const find = db.prepare(`SELECT ${counted} FROM deliveries WHERE id = ?`);
  const ofEvent = db.prepare(
    `SELECT ${counted} FROM deliveries WHERE event_id = ? ORDER BY row DESC LIMIT ${ofEventLimits.read}`,
  );
  const lastAttemptOf = db.prepare(`
    SELECT ${attemptColumns} FROM deliveries JOIN attempts ON attempts.delivery = deliveries.row
    WHERE deliveries.id = ? ORDER BY started_at DESC, attempt DESC LIMIT 1`);
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
    lastAttemptOf(id: string): AttemptRow | undefined {
      const row = lastAttemptOf.get(bounded(id));
      return row && attemptRow(row);
    },
    /** Oldest first. */
    resendsOf: (id: string): readonly Resend[] => resendsOf.all(bounded(id)).map(plain<Resend>),
    /** By destination and time: those of the newest for which `holds`. A sender may give any number of calls the same messageId. */
    ofEvent(
      eventId: string,
      holds: (delivery: CountedDelivery) => boolean = () => true,
    ): { readonly deliveries: readonly CountedDelivery[]; readonly isComplete: boolean } {
      const deliveries: CountedDelivery[] = [];
      let read = 0;
      for (const row of ofEvent.iterate(bounded(eventId))) {
        if (deliveries.length === ofEventLimits.returned) break;
        read += 1;
        const delivery = countedRow(row);
        if (holds(delivery)) deliveries.push(delivery);
      }
      const isComplete = read < ofEventLimits.read && deliveries.length < ofEventLimits.returned;
      const order = (one: CountedDelivery, other: CountedDelivery): number =>
        compare(one.destinationId, other.destinationId) ||
        one.createdAt - other.createdAt ||
        compare(one.id, other.id);
      return { deliveries: deliveries.sort(order), isComplete };
    },
  };
}

function countedRow(row: SqlRow): CountedDelivery {
  return { ...rowOf(row), attempts: Number(row['attempts']) };
}

export function attemptRow({ urls, ...row }: SqlRow): AttemptRow {
  return { ...plain<AttemptRow>(row), urls: JSON.parse(String(urls)) as UrlAttempt[] };
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
