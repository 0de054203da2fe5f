/** Queries of dead letters: lists by filter, those of a delivery, and counts by destination and reason. */
import type { DatabaseSync } from 'node:sqlite';
import { isExpected, type CountRow, type DeadLetterSummary } from '@tailrace/deadletters';
import { bounded, type RecordPosition } from '@tailrace/records';
import { listQueries, type ListFilter } from '../../sqlite/list.ts';
import { plain, textOf, type SqlRow } from '../../sqlite/row.ts';
import { deadLetterIndexes, hourMs, minuteMs } from '../../schema/schema.ts';
import { deadLetterOf } from './rows.ts';

const columns = {
  userKey: 'user_key',
  event: 'event',
  destinationId: 'destination_id',
  reason: 'reason',
  type: 'type',
  // Without an index: only limited tokens filter by it.
  sourceId: 'source_id',
} as const;

export type ListedLetters = ListFilter<keyof typeof columns>;

/** In the year 9999. */
const lastTime = 253_402_300_799_000;

export function deadLetterQueries(db: DatabaseSync) {
  const ofDelivery = db.prepare('SELECT * FROM dead_letters WHERE delivery_id = ? ORDER BY died_at, row');
  const at = db.prepare('SELECT * FROM dead_letters WHERE partition = ? AND "offset" = ?');
  const sums = (table: string) =>
    db.prepare(`
      SELECT destination_id AS destinationId, reason, sum(letters) AS deadLetters, sum(replayed) AS replayed,
        min(oldest) AS oldestAt, max(newest) AS newestAt
      FROM ${table} WHERE at >= ?1 AND at < ?2 AND (?3 IS NULL OR destination_id IN (SELECT value FROM json_each(?3)))
        AND (?4 IS NULL OR reason IN (SELECT value FROM json_each(?4)))
        AND (?5 IS NULL OR type IN (SELECT value FROM json_each(?5)))
      GROUP BY destination_id, reason`);
  const [minutes, hours] = [sums('dead_minutes'), sums('dead_hours')];
  const open = db.prepare(
    'SELECT reason, sum(letters - replayed) AS letters FROM dead_hours GROUP BY reason',
  );

  return {
    listDeadLetters: listQueries(db, {
      table: 'dead_letters',
      select: '*',
      order: ['died_at', 'partition', '"offset"'],
      columns,
      indexes: deadLetterIndexes,
      timeIndex: 'dead_letters_by_time',
      rowOf: deadLetterOf,
    }),
    /** Oldest first. */
    deadLettersOf: (deliveryId: string): readonly DeadLetterSummary[] =>
      ofDelivery.all(bounded(deliveryId)).map(deadLetterOf),
    deadLetterAt({ partition, offset }: RecordPosition): DeadLetterSummary | undefined {
      const row = at.get(partition, offset);
      return row && deadLetterOf(row);
    },
    /**
     * Counts by destination and reason, several for each. Times are rounded down to a minute. Of the filter only destination, reason
     * and type apply; `countLetters` counts by others.
     */
    countDeadLetters({
      destinationId,
      reason,
      type,
      since = 0,
      until = Infinity,
    }: ListedLetters): CountRow[] {
      const among = [destinationId, reason, type].map((value) =>
        value === undefined ? null : JSON.stringify([value].flat().map(bounded)),
      );
      const floor = (time: number, unitMs: number): number =>
        Math.floor(Math.min(time, lastTime) / unitMs) * unitMs;
      const [from, to] = [floor(since, minuteMs), floor(until, minuteMs)];
      const fromHour = Math.min(floor(from + hourMs - 1, hourMs), to);
      const toHour = Math.max(floor(to, hourMs), fromHour);
      return [
        ...minutes.all(from, fromHour, ...among),
        ...hours.all(fromHour, toHour, ...among),
        ...minutes.all(toHour, to, ...among),
      ].map(countRowOf);
    },
    /** How many are of a failure, and were not replayed. */
    openDeadLetters: (): number =>
      open
        .all()
        .filter((row) => !isExpected(textOf(row, 'reason')))
        .reduce((sum, row) => sum + Number(row['letters']), 0),
  };
}

/** Empty texts stand for what a record that is not a delivery lacks. */
function countRowOf(row: SqlRow): CountRow {
  const { destinationId, reason, ...counts } = plain<CountRow>(row);
  const orUndefined = (text: string | undefined): string | undefined => (text === '' ? undefined : text);
  return { destinationId: orUndefined(destinationId), reason: orUndefined(reason), ...counts };
}
