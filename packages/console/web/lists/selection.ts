/** Rows of a list that are chosen for an action, by their keys. Rows that are no longer shown are not chosen. */
import { useRef, useState } from 'preact/hooks';

export interface Selection<Item> {
  /** In the order of the list. */
  readonly items: readonly Item[];
  readonly has: (key: string) => boolean;
  /** Chooses the row, or does not any more. With `isRange`, chooses all rows from the last one to this one. */
  readonly toggle: (index: number, isRange: boolean) => void;
  /** Chooses all rows from one to another. */
  readonly extend: (from: number, to: number) => void;
  readonly all: () => void;
  readonly clear: () => void;
}

export function useSelection<Item>(items: readonly Item[], keyOf: (item: Item) => string): Selection<Item> {
  const [keys, setKeys] = useState<ReadonlySet<string>>(new Set());
  /** The row that was chosen last. */
  const last = useRef(0);
  const extend = (from: number, to: number): void => {
    const range = items.slice(Math.min(from, to), Math.max(from, to) + 1);
    setKeys(new Set([...keys, ...range.map(keyOf)]));
    last.current = to;
  };
  return {
    items: keys.size === 0 ? [] : items.filter((item) => keys.has(keyOf(item))),
    has: (key) => keys.has(key),
    extend,
    toggle(index, isRange) {
      const item = items[index];
      if (isRange) extend(last.current, index);
      else if (item !== undefined) {
        const next = new Set(keys);
        if (!next.delete(keyOf(item))) next.add(keyOf(item));
        setKeys(next);
        last.current = index;
      }
    },
    all() {
      setKeys(new Set(items.map(keyOf)));
    },
    clear() {
      setKeys(new Set());
    },
  };
}
