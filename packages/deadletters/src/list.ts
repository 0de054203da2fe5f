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

/** The count of one dead letter. */
export function countOf({ destinationId, reason, replayed, diedAt }: DeadLetterSummary): CountRow {
  return {
    destinationId,
    reason,
    deadLetters: 1,
    replayed: Number(replayed),
    oldestAt: diedAt,
    newestAt: diedAt,
  };
}

/** Adds a row to the sums by destination and reason. */
export function addCount(sums: Map<string, CountRow>, row: CountRow): void {
  const key = JSON.stringify([row.destinationId, row.reason]);
  const sum = sums.get(key);
  if (!sum) {
    sums.set(key, { ...row });
    return;
  }
  sum.deadLetters += row.deadLetters;
  sum.replayed += row.replayed;
  sum.oldestAt = Math.min(sum.oldestAt, row.oldestAt);
  sum.newestAt = Math.max(sum.newestAt, row.newestAt);
}

/** Largest count first. */
export function sortedCounts(sums: ReadonlyMap<string, CountRow>): CountRow[] {
  return [...sums.values()].sort((a, b) => b.deadLetters - a.deadLetters);
}

/** Counts up to the present ends, or to the `ends` of an earlier count. */
export async function countDeadLetters(
  kafka: Pick<Kafka, 'scan'>,
  names: TopicNames,
  options: ReadOptions & { readonly ends?: ReadonlyMap<number, number> | undefined } = {},
): Promise<DeadLetterCounts> {
  const counts = new Map<string, CountRow>();
  const reading = await readDeadLetters(kafka, names, options);
  for await (const letters of reading) for (const { summary } of letters) addCount(counts, countOf(summary));
  const sorted = sortedCounts(counts);
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
