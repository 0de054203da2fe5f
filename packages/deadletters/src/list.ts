/** Lists, counts and finds dead letters. Each function reads all that match, and keeps only its result in memory. */
import type { Kafka } from '@tailrace/kafka';
import { formatPosition } from '@tailrace/records';
import type { TopicNames } from '@tailrace/topology';
import type { DeadLetter, DeadLetterSummary } from './dead-letter.ts';
import { readDeadLetters, type ReadOptions } from './read.ts';

/** The last dead letter of a page. */
export type ListPosition = Pick<DeadLetterSummary, 'diedAt' | 'partition' | 'offset'>;

/** The newest `limit` matching dead letters after `after`, newest first; `matched` counts all that match. */
export async function newestDeadLetters(
  kafka: Pick<Kafka, 'scan'>,
  names: TopicNames,
  {
    limit,
    after,
    ...options
  }: ReadOptions & { readonly limit: number; readonly after?: ListPosition | undefined },
): Promise<{ readonly matched: number; readonly letters: readonly DeadLetterSummary[] }> {
  let matched = 0;
  let newest: DeadLetterSummary[] = [];
  const keepNewest = (): void => {
    newest = newest.sort(newestFirst).slice(0, limit);
  };
  for await (const letters of await readDeadLetters(kafka, names, options)) {
    matched += letters.length;
    for (const { summary } of letters) if (!after || newestFirst(summary, after) > 0) newest.push(summary);
    if (newest.length > 2 * limit + 1_000) keepNewest();
  }
  keepNewest();
  return { matched, letters: newest };
}

/** Dead letters of the same millisecond are ordered by position, so that pages do not overlap. */
function newestFirst(one: ListPosition, other: ListPosition): number {
  return other.diedAt - one.diedAt || one.partition - other.partition || other.offset - one.offset;
}

export interface CountRow {
  readonly destinationId: string | undefined;
  readonly reason: string | undefined;
  deadLetters: number;
  /** The number that were replayed. */
  replayed: number;
  /** Timestamps of the first and the last, in milliseconds since the epoch. */
  oldestAt: number;
  newestAt: number;
}

export interface DeadLetterCounts {
  readonly deadLetters: number;
  readonly replayed: number;
  /** By destination and reason, largest count first. */
  readonly rows: readonly Readonly<CountRow>[];
  /** The end offset of each partition. */
  readonly ends: ReadonlyMap<number, number>;
}

/** Counts up to the present ends, or to the `ends` of an earlier count. */
export async function countDeadLetters(
  kafka: Pick<Kafka, 'scan'>,
  names: TopicNames,
  options: ReadOptions & { readonly ends?: ReadonlyMap<number, number> | undefined } = {},
): Promise<DeadLetterCounts> {
  const rows = new Map<string, CountRow>();
  const reading = await readDeadLetters(kafka, names, options);
  for await (const letters of reading) {
    for (const { summary } of letters) {
      const { destinationId, reason, replayed, diedAt } = summary;
      const key = JSON.stringify([destinationId, reason]);
      let row = rows.get(key);
      if (!row) {
        row = { destinationId, reason, deadLetters: 0, replayed: 0, oldestAt: diedAt, newestAt: diedAt };
        rows.set(key, row);
      }
      row.deadLetters += 1;
      if (replayed) row.replayed += 1;
      row.oldestAt = Math.min(row.oldestAt, diedAt);
      row.newestAt = Math.max(row.newestAt, diedAt);
    }
  }
  const sorted = [...rows.values()].sort((a, b) => b.deadLetters - a.deadLetters);
  return {
    deadLetters: sorted.reduce((sum, row) => sum + row.deadLetters, 0),
    replayed: sorted.reduce((sum, row) => sum + row.replayed, 0),
    rows: sorted,
    ends: reading.ends,
  };
}

/** All dead letters of a delivery, by its id, or the one at a position (`<partition>/<offset>`); oldest first. */
export async function findDeadLetters(
  kafka: Pick<Kafka, 'scan'>,
  names: TopicNames,
  idOrPosition: string,
  options: ReadOptions = {},
): Promise<readonly DeadLetter[]> {
  const found: DeadLetter[] = [];
  for await (const letters of await readDeadLetters(kafka, names, options)) {
    for (const letter of letters) {
      const { summary } = letter;
      if (summary.deliveryId === idOrPosition || formatPosition(summary) === idOrPosition) found.push(letter);
    }
  }
  return found.sort((a, b) => a.record.timestamp - b.record.timestamp);
}
