/** A binary heap. The first item is available immediately; adding or taking an item costs O(log n). */
export class Heap<T> {
  readonly #isBefore: (a: T, b: T) => boolean;
  #items: T[] = [];

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#items.length;
  }

  get first(): T | undefined {
    return this.#items[0];
  }

  /** All items, unsorted. They may be changed where their order stays the same. */
  get items(): readonly T[] {
    return this.#items;
  }

  push(item: T): void {
    let place = this.#items.push(item) - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!this.#swapped(place, parent)) break;
      place = parent;
    }
  }

  takeFirst(): T | undefined {
    const items = this.#items;
    const [first] = items;
    const last = items.pop();
    if (last === undefined || items.length === 0) return first;
    items[0] = last;
    for (let place = 0, child = 1; child < items.length; child = 2 * place + 1) {
      if (this.#isFirst(child + 1, child)) child += 1;
      if (!this.#swapped(child, place)) break;
      place = child;
    }
    return first;
  }

  clear(): void {
    this.#items = [];
  }

  #isFirst(place: number, other: number): boolean {
    const [a, b] = [this.#items[place], this.#items[other]];
    return a !== undefined && b !== undefined && this.#isBefore(a, b);
  }

  /** Swaps the two items where they are in the wrong order. Returns whether it did. */
  #swapped(lower: number, upper: number): boolean {
    const [a, b] = [this.#items[lower], this.#items[upper]];
    if (a === undefined || b === undefined || !this.#isBefore(a, b)) return false;
    this.#items[lower] = b;
    this.#items[upper] = a;
    return true;
  }
}
