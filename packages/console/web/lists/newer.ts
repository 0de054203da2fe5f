/** What the first page of a list has that is not shown yet. */

export interface Refreshed<Item> {
  /** Those that are shown, in their places, with their newest content. */
  readonly items: readonly Item[];
  /** How many would come before one that is shown; all new ones where the page is the whole list. */
  readonly newer: number;
  /** Whether items that are shown have another order now, or have left the list. */
  readonly isMoved: boolean;
}

/** @param isWhole whether `first`, the first page as it is now, is the whole list */
export function refreshed<Item>(
  items: readonly Item[],
  { first, isWhole }: { readonly first: readonly Item[]; readonly isWhole: boolean },
  keyOf: (item: Item) => string,
): Refreshed<Item> {
  const known = new Set(items.map(keyOf));
  const fresh = new Map(first.map((item) => [keyOf(item), item]));
  const lastKnown = first.findLastIndex((item) => known.has(keyOf(item)));
  const end = isWhole || lastKnown < 0 ? first.length : lastKnown;
  const kept = items.map(keyOf).filter((key) => fresh.has(key));
  const order = [...fresh.keys()].filter((key) => known.has(key));
  return {
    items: items.map((item) => fresh.get(keyOf(item)) ?? item),
    newer: first.slice(0, end).filter((item) => !known.has(keyOf(item))).length,
    isMoved: kept.some((key, nth) => key !== order[nth]) || (isWhole && kept.length < items.length),
  };
}
