/** Suggests a name for a mistyped one, for messages such as "did you mean X?". */

const closeEnough = 2;

/** The nearest of `names` that is at most two typing errors away from `mistyped`, ignoring case. */
export function nearestName(mistyped: string, names: readonly string[]): string | undefined {
  const meant = mistyped.toLowerCase();
  let nearest: string | undefined;
  let least = closeEnough + 1;
  for (const name of names) {
    // Their distance is at least the difference of their lengths, and a hostile name may be long.
    if (Math.abs(name.length - meant.length) >= least) continue;
    const distance = editDistance(meant, name.toLowerCase());
    // Short names are within two errors of many others, so at most half of the letters may differ.
    if (distance >= least || distance * 2 > name.length) continue;
    nearest = name;
    least = distance;
  }
  return nearest;
}

/** Insertions, deletions, replacements and swaps of neighbours (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const at = (distances: readonly number[], column: number): number => distances[column] ?? Infinity;
      const replaced = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(
        Math.min(
          at(last, j) + 1,
          at(row, j - 1) + 1,
          replaced,
          swapped ? at(beforeLast, j - 2) + 1 : Infinity,
        ),
      );
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? Infinity;
}
