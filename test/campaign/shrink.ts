/** Drops faults of a schedule while the failure stays, as delta debugging does. */

/** Resolves with a part of `items` that still fails, and of which no single item can be left out. */
export async function shrink<Item>(
  items: readonly Item[],
  fails: (part: readonly Item[]) => Promise<boolean>,
): Promise<readonly Item[]> {
  let rest = items;
  for (let pieces = 2; rest.length > 0;) {
    const size = Math.ceil(rest.length / pieces);
    let smaller: readonly Item[] | undefined;
    for (let from = 0; from < rest.length && !smaller; from += size) {
      const part = [...rest.slice(0, from), ...rest.slice(from + size)];
      if (await fails(part)) smaller = part;
    }
    if (smaller) {
      rest = smaller;
      pieces = Math.max(2, pieces - 1);
    } else if (size === 1) break;
    else pieces = Math.min(rest.length, pieces * 2);
  }
  return rest;
}
