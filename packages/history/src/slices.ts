/** Reads lists of the history in slices, and lets other requests run between two of them. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CountRow } from '@tailrace/deadletters';
import type { History } from './history.ts';
import type { Queries } from './queries.ts';
import type { Slice } from './sqlite/list.ts';
import { countRows, type DeadLetterPosition, type ListedLetters } from './tables/dead-letters/queries.ts';

/** How long a list is searched for a page. A page that is not full by then has a cursor that continues. */
const pageTimeMs = 150;

/** The query for a slice of at most `limit` rows. */
type SliceQuery<Row, Position> = (
  queries: Queries,
  limit: number,
  after: Position | undefined,
) => Slice<Row, Position>;

export interface Page<Row, Position> {
  readonly rows: readonly Row[];
  /** Where the next page begins; undefined at the end of the list. */
  readonly next: Position | undefined;
}

/**
 * Reads a page of `limit` rows, or fewer where the filter matches so rarely that they are not found in time.
 *
 * @throws TailraceError `history-unavailable`
 */
export async function readPage<Row, Position>(
  history: Pick<History, 'read'>,
  limit: number,
  after: Position | undefined,
  query: SliceQuery<Row, Position>,
): Promise<Page<Row, Position>> {
  const read = (limit: number, after: Position | undefined): Slice<Row, Position> =>
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

function isEmpty({ rows, reached }: Slice<unknown, unknown>): boolean {
  return rows.length === 0 && reached === undefined;
}

/**
 * Counts dead letters by destination and reason. Counts are kept by destination, reason and type; with other filters the matching
 * dead letters are counted.
 *
 * @throws TailraceError `history-unavailable`
 */
export async function countLetters(
  history: Pick<History, 'read'>,
  filter: ListedLetters,
): Promise<readonly CountRow[]> {
  const { event, userKey, sourceId } = filter;
  if ([event, userKey, sourceId].every((value) => value === undefined))
    return history.read((queries) => queries.countDeadLetters(filter));
  let rows: CountRow[] = [];
  for (let after: DeadLetterPosition | undefined; ;) {
    const slice = history.read((queries) => queries.countSlice(filter, after));
    rows = countRows([...rows, ...slice.rows]);
    if (!slice.reached) return rows;
    after = slice.reached;
    await nextTurn();
  }
}
