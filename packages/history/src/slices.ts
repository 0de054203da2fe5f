/** Reads lists of the history in slices, and lets other requests run between two of them. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { addCount, countOf, sortedCounts, type CountRow } from '@tailrace/deadletters';
import type { History } from './history.ts';
import type { Queries } from './queries.ts';
import type { ListPosition, Slice } from './sqlite/list.ts';
import type { ListedLetters } from './tables/dead-letters/queries.ts';

/** How long a list is searched for a page. A page that is not full by then has a cursor that continues. */
const pageTimeMs = 150;

/** Dead letters that are counted in one slice. */
const countedLetters = 2_000;

/** The query for a slice of at most `limit` rows. */
type SliceQuery<Row> = (queries: Queries, limit: number, after: ListPosition | undefined) => Slice<Row>;

export interface Page<Row> {
  readonly rows: readonly Row[];
  /** Where the next page begins; undefined at the end of the list. */
  readonly next: ListPosition | undefined;
}

/**
 * Reads a page of `limit` rows, or fewer where the filter matches so rarely that they are not found in time.
 *
 * @throws TailraceError `history-unavailable`
 */
export async function readPage<Row>(
  history: Pick<History, 'read'>,
  limit: number,
  after: ListPosition | undefined,
  query: SliceQuery<Row>,
): Promise<Page<Row>> {
  const read = (limit: number, after: ListPosition | undefined): Slice<Row> =>
    history.read((queries) => query(queries, limit, after));
  const startedAt = performance.now();
  const rows: Row[] = [];
  for (let position = after; ;) {
    const slice = read(limit - rows.length, position);
    rows.push(...slice.rows);
    const isLate = performance.now() - startedAt > pageTimeMs;
    if (!slice.reached) return { rows, next: undefined };
    if (rows.length < limit && !isLate) {
      position = slice.reached;
      await nextTurn();
      continue;
    }
    const isLast = rows.length === limit && isEmpty(read(1, slice.reached));
    return { rows, next: isLast ? undefined : slice.reached };
  }
}

function isEmpty({ rows, reached }: Slice<unknown>): boolean {
  return rows.length === 0 && reached === undefined;
}

/**
 * Counts dead letters by destination and reason. Counts are kept by destination, reason and type; with other filters (`readsLetters`)
 * all matching dead letters are read.
 *
 * @param mayGoOn asked between two slices; where it returns false, the result is undefined
 * @throws TailraceError `history-unavailable`
 */
export async function countLetters(
  history: Pick<History, 'read'>,
  filter: ListedLetters,
  mayGoOn: () => boolean = () => true,
): Promise<readonly CountRow[] | undefined> {
  const counts = new Map<string, CountRow>();
  if (!readsLetters(filter)) {
    for (const row of history.read((queries) => queries.countDeadLetters(filter))) addCount(counts, row);
    return sortedCounts(counts);
  }
  for (let after: ListPosition | undefined; ;) {
    const slice = history.read((queries) => queries.listDeadLetters(filter, countedLetters, after));
    for (const letter of slice.rows) addCount(counts, countOf(letter));
    if (!slice.reached) return sortedCounts(counts);
    after = slice.reached;
    await nextTurn();
    if (!mayGoOn()) return undefined;
  }
}

export function readsLetters({ event, userKey, sourceId }: ListedLetters): boolean {
  return [event, userKey, sourceId].some((value) => value !== undefined);
}
