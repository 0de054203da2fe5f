/** Reads lists of the history in slices, and lets other requests run between two of them. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long a list is searched for a page. A page that is not full by then has a cursor that continues. */
const pageTimeMs = 150;

export interface SlicedPage<Row, Position> {
  readonly rows: readonly Row[];
  /** Where the next page begins; undefined at the end of the list. */
  readonly next: Position | undefined;
}

/**
 * Reads a page of `limit` rows, or fewer where the filter matches so rarely that they are not found in time.
 *
 * @param read a slice of at most `limit` rows
 */
export async function readPage<Row, Position>(
  limit: number,
  after: Position | undefined,
  read: (
    limit: number,
    after: Position | undefined,
  ) => { readonly rows: readonly Row[]; readonly reached: Position | undefined },
): Promise<SlicedPage<Row, Position>> {
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
    const isLast = rows.length === limit && !mayContinue(read(1, slice.reached));
    return { rows, next: isLast ? undefined : slice.reached };
  }
}

function mayContinue({
  rows,
  reached,
}: {
  readonly rows: readonly unknown[];
  readonly reached: unknown;
}): boolean {
  return rows.length > 0 || reached !== undefined;
}
