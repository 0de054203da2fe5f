/**
 * Sequences of one key, or items that have one, sorted. Most are added at the end and taken from the front, so both are
 * cheap at any size: taking leaves a gap at the front, and inserting moves the shorter side.
 */
export type Sequenced = number | { readonly sequence: number };

/** A smaller gap at the front is not closed. */
const leastGap = 64;

export class Sequences<T extends Sequenced> {
  #items: Sequenced[];
  /** The index of the first item. Items before it are 0, so that taken items can be garbage collected. */
  #from = 0;

  /** @param items sorted; used from now on */
  constructor(items: T[] = []) {
    this.#items = items;
  }

  get size(): number {
    return this.#items.length - this.#from;
  }

  get first(): T | undefined {
    return this.#items[this.#from] as T | undefined;
  }

  toArray(): T[] {
    return this.#items.slice(this.#from) as T[];
  }

  /** Whether at least so many items have the sequence. */
  has(sequence: number, copies = 1): boolean {
    const item = this.#items[this.#placeOf(sequence) + copies - 1];
    return item !== undefined && sequenceOf(item) === sequence;
  }

  /** Returns how many other items were moved. */
  add(item: T): number {
    const place = this.#placeOf(sequenceOf(item));
    const [before, behind] = [place - this.#from, this.#items.length - place];
    if (behind <= before) {
      this.#items.splice(place, 0, item);
      return behind;
    }
    if (this.#from > 0) {
      this.#from -= 1;
      this.#items.copyWithin(this.#from, this.#from + 1, place);
      this.#items[place - 1] = item;
      return before;
    }
    const gap: Sequenced[] = Array.from({ length: behind >> 3 }, () => 0);
    this.#from = gap.length;
    this.#items = gap.concat(this.#items.slice(0, place), item, this.#items.slice(place));
    return before + behind;
  }

  /** Removes one item with the sequence, where there is one. Returns how many other items were moved. */
  remove(sequence: number): number {
    if (!this.has(sequence)) return 0;
    const place = this.#placeOf(sequence);
    const [before, behind] = [place - this.#from, this.#items.length - place - 1];
    if (behind < before) {
      this.#items.splice(place, 1);
      return behind;
    }
    this.#items.copyWithin(this.#from + 1, this.#from, place);
    return before + this.#dropFirst();
  }

  takeFirst(): T | undefined {
    const { first } = this;
    if (first !== undefined) this.#dropFirst();
    return first;
  }

  #dropFirst(): number {
    this.#items[this.#from] = 0;
    this.#from += 1;
    const left = this.size;
    if (left > 0 && (this.#from < leastGap || this.#from < left)) return 0;
    this.#items.splice(0, this.#from);
    this.#from = 0;
    return left;
  }

  /** Returns the index of the first item that is not below `sequence`, or where it would be. */
  #placeOf(sequence: number): number {
    let [low, high] = [this.#from, this.#items.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const item = this.#items[middle];
      if (item !== undefined && sequenceOf(item) < sequence) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function sequenceOf(item: Sequenced): number {
  return typeof item === 'number' ? item : item.sequence;
}
