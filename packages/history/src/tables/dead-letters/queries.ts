/** Queries of dead letters: lists by filter, those of a delivery, and counts by destination and reason. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { CountRow, DeadLetterFilter, DeadLetterSummary } from '@tailrace/deadletters';
import type { RecordPosition } from '@tailrace/records';
import { bounded } from '../../facts/bounded.ts';
import { listQueries, wantedOf, type Slice } from '../../sqlite/list.ts';
import { textOf, type SqlRow } from '../../sqlite/row.ts';
import { deadLetterIndexes, hourMs, minuteMs } from '../../schema/schema.ts';
import { deadLetterOf } from './rows.ts';

/** The last dead letter of a page. */
export interface DeadLetterPosition extends RecordPosition {
  readonly diedAt: number;
}

export interface DeadLetterQueries {
  /** Newest first. A slice may have fewer letters than `limit`, and the list may continue after it. */
  listDeadLetters(
    filter: ListedLetters,
    limit: number,
    after?: DeadLetterPosition,
  ): Slice<DeadLetterSummary, DeadLetterPosition>;
  /** Oldest first. */
  deadLettersOf(deliveryId: string): readonly DeadLetterSummary[];
  deadLetterAt(position: RecordPosition): DeadLetterSummary | undefined;
  /**
   * Counts by destination and reason, largest count first. Times are rounded down to a minute. Of the filter only destination,
   * reason and type apply; see `countSlice` for others.
   */
  countDeadLetters(filter: ListedLetters): readonly CountRow[];
  /** How many were not replayed. */
  openDeadLetters(): number;
  /** Counts of a slice of the matching dead letters. Rows of several slices may have the same destination and reason. */
  countSlice(filter: ListedLetters, after?: DeadLetterPosition): Slice<CountRow, DeadLetterPosition>;
}

/** As that of replays. Of several ids a dead letter has one. */
export interface ListedLetters extends Omit<DeadLetterFilter, 'destinationId'> {
  readonly destinationId?: string | readonly string[] | undefined;
  readonly sourceId?: string | readonly string[] | undefined;
}

const columns = [
  ['user_key', 'userKey'],
  ['event', 'event'],
  ['destination_id', 'destinationId'],
  ['reason', 'reason'],
  ['type', 'type'],
  // Without an index: only limited tokens filter by it.
  ['source_id', 'sourceId'],
] as const;
/** Dead letters that are counted in one slice. */
const countedLetters = 2_000;
/** In the year 9999. */
const lastTime = 253_402_300_799_000;

export function deadLetterQueries(db: DatabaseSync): DeadLetterQueries {
  const list = listQueries(db, {
    table: 'dead_letters',
    select: '*',
    order: ['died_at', 'partition', '"offset"'],
    indexes: deadLetterIndexes,
    timeIndex: 'dead_letters_by_time',
  });
  const ofDelivery = db.prepare('SELECT * FROM dead_letters WHERE delivery_id = ? ORDER BY died_at, row');
  const at = db.prepare('SELECT * FROM dead_letters WHERE partition = ? AND "offset" = ?');
  const sums = (table: string) =>
    db.prepare(`
      SELECT destination_id, reason, sum(letters) AS letters, sum(replayed) AS replayed,
        min(oldest) AS oldest, max(newest) AS newest
      FROM ${table} WHERE at >= ?1 AND at < ?2 AND (?3 IS NULL OR destination_id IN (SELECT value FROM json_each(?3)))
        AND (?4 IS NULL OR reason = ?4) AND (?5 IS NULL OR type = ?5)
      GROUP BY destination_id, reason`);
  const [minutes, hours] = [sums('dead_minutes'), sums('dead_hours')];

  const open = db.prepare('SELECT sum(letters - replayed) AS letters FROM dead_hours');

  const listDeadLetters: DeadLetterQueries['listDeadLetters'] = (filter, limit, after) => {
    const { rows, reached } = list({
      wanted: wantedOf(columns, filter),
      limit,
      since: filter.since,
      until: filter.until,
      after: after && [after.diedAt, after.partition, after.offset],
    });
    return { rows: rows.map(deadLetterOf), reached: reached && positionOf(reached) };
  };

  return {
    listDeadLetters,
    deadLettersOf: (deliveryId) => ofDelivery.all(bounded(deliveryId)).map(deadLetterOf),
    deadLetterAt({ partition, offset }) {
      const row = at.get(partition, offset);
      return row && deadLetterOf(row);
    },
    countDeadLetters({ destinationId, reason = null, type = null, since = 0, until = Infinity }) {
      const destinations =
        destinationId === undefined ? null : JSON.stringify([destinationId].flat().map(bounded));
      const texts = [destinations, ...[reason, type].map((text) => text && bounded(text))];
      const floor = (time: number, unitMs: number): number =>
        Math.floor(Math.min(time, lastTime) / unitMs) * unitMs;
      const [from, to] = [floor(since, minuteMs), floor(until, minuteMs)];
      const fromHour = Math.min(floor(from + hourMs - 1, hourMs), to);
      const toHour = Math.max(floor(to, hourMs), fromHour);
      return countRows(
        [
          ...minutes.all(from, fromHour, ...texts),
          ...hours.all(fromHour, toHour, ...texts),
          ...minutes.all(toHour, to, ...texts),
        ].map(countRowOf),
      );
    },
    openDeadLetters: () => Number(open.get()?.['letters'] ?? 0),
    countSlice(filter, after) {
      const { rows, reached } = listDeadLetters(filter, countedLetters, after);
      return { rows: countRows(rows.map(rowOfOne)), reached };
    },
  };
}

/** Adds up rows of the same destination and reason. */
export function countRows(rows: Iterable<CountRow>): CountRow[] {
  const sums = new Map<string, CountRow>();
  for (const row of rows) {
    const key = JSON.stringify([row.destinationId, row.reason]);
    const sum = sums.get(key);
    if (!sum) {
      sums.set(key, { ...row });
      continue;
    }
    sum.deadLetters += row.deadLetters;
    sum.replayed += row.replayed;
    sum.oldestAt = Math.min(sum.oldestAt, row.oldestAt);
    sum.newestAt = Math.max(sum.newestAt, row.newestAt);
  }
  return [...sums.values()].sort((a, b) => b.deadLetters - a.deadLetters);
}

function rowOfOne({ destinationId, reason, replayed, diedAt }: DeadLetterSummary): CountRow {
  return {
    destinationId,
    reason,
    deadLetters: 1,
    replayed: replayed ? 1 : 0,
    oldestAt: diedAt,
    newestAt: diedAt,
  };
}

function countRowOf(row: SqlRow): CountRow {
  const orUndefined = (text: string): string | undefined => (text === '' ? undefined : text);
  return {
    destinationId: orUndefined(textOf(row, 'destination_id')),
    reason: orUndefined(textOf(row, 'reason')),
    deadLetters: Number(row['letters']),
    replayed: Number(row['replayed']),
    oldestAt: Number(row['oldest']),
    newestAt: Number(row['newest']),
  };
}

function positionOf([diedAt, partition, offset]: readonly SQLInputValue[]): DeadLetterPosition {
  return { diedAt: Number(diedAt), partition: Number(partition), offset: Number(offset) };
}
