/**
 * Numbers by key, one or several for each, for up to a million keys, in flat memory: 64 bits of a hash of each key and its
 * numbers, in an open-addressing table that is at most two thirds full. A Map of texts would take several times as much, and
 * all of it on the heap.
 *
 * Two keys with the same 64 bits would share their numbers. With a million keys in the table and a thousand million others
 * that are looked up, the probability of one such pair is 1 in 18,000.
 */
import { hash } from 'node:crypto';

const firstCapacity = 1_024;
/** Of the hash and of each number. */
const wordBytes = 8;

export class KeyNumbers {
  readonly #width: number;
  /** The hashes, two words a place; both 0 where the place is free. */
  #hashes = new Uint32Array(firstCapacity * 2);
  #numbers: Float64Array;
  #size = 0;

  /** @param width how many numbers each key has */
  constructor(width = 1) {
    this.#width = width;
    this.#numbers = new Float64Array(firstCapacity * width);
  }

  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    return (this.#capacity + this.#numbers.length) * wordBytes;
  }

  get #capacity(): number {
    return this.#hashes.length / 2;
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  /** Undefined where the key is not in the table. */
  get(key: string): readonly number[] | undefined {
    if (this.#size === 0) return undefined;
    const [high, low] = hashOf(key);
    const place = this.#placeOf(high, low);
    return this.#isFree(place) ? undefined : this.#numbersAt(place);
  }

  /** Missing numbers become NaN. */
  set(key: string, ...numbers: readonly number[]): void {
    if ((this.#size + 1) * 3 > this.#capacity * 2) this.#grow();
    const [high, low] = hashOf(key);
    this.#put(high, low, numbers);
  }

  delete(key: string): void {
    if (this.#size === 0) return;
    const [high, low] = hashOf(key);
    let free = this.#placeOf(high, low);
    if (this.#isFree(free)) return;
    this.#size -= 1;
    // Moves up later entries that would not be found behind a free place.
    const mask = this.#capacity - 1;
    for (let place = (free + 1) & mask; !this.#isFree(place); place = (place + 1) & mask) {
      const wanted = (this.#hashes[place * 2] ?? 0) & mask;
      if (((place - wanted) & mask) < ((place - free) & mask)) continue;
      this.#hashes.copyWithin(free * 2, place * 2, place * 2 + 2);
      const width = this.#width;
      this.#numbers.copyWithin(free * width, place * width, (place + 1) * width);
      free = place;
    }
    this.#hashes.fill(0, free * 2, free * 2 + 2);
  }

  #put(high: number, low: number, numbers: ArrayLike<number>): void {
    const place = this.#placeOf(high, low);
    if (this.#isFree(place)) {
      this.#hashes[place * 2] = high;
      this.#hashes[place * 2 + 1] = low;
      this.#size += 1;
    }
    for (let nth = 0; nth < this.#width; nth += 1) {
      this.#numbers[place * this.#width + nth] = numbers[nth] ?? NaN;
    }
  }

  #numbersAt(place: number): readonly number[] {
    return [...this.#numbers.subarray(place * this.#width, (place + 1) * this.#width)];
  }

  /** The place of this hash, or the free one where it belongs. */
  #placeOf(high: number, low: number): number {
    const mask = this.#capacity - 1;
    let place = high & mask;
    while (
      !this.#isFree(place) &&
      (this.#hashes[place * 2] !== high || this.#hashes[place * 2 + 1] !== low)
    ) {
      place = (place + 1) & mask;
    }
    return place;
  }

  #isFree(place: number): boolean {
    return this.#hashes[place * 2] === 0 && this.#hashes[place * 2 + 1] === 0;
  }

  #grow(): void {
    const hashes = this.#hashes;
    const numbers = this.#numbers;
    const width = this.#width;
    this.#hashes = new Uint32Array(hashes.length * 2);
    this.#numbers = new Float64Array(numbers.length * 2);
    this.#size = 0;
    for (let place = 0; place * 2 < hashes.length; place += 1) {
      const high = hashes[place * 2] ?? 0;
      const low = hashes[place * 2 + 1] ?? 0;
      if (high === 0 && low === 0) continue;
      this.#put(high, low, numbers.subarray(place * width, (place + 1) * width));
    }
  }
}

function hashOf(key: string): readonly [high: number, low: number] {
  const digest = hash('sha256', key, 'buffer');
  // A hash of 0 would look like a free place.
  return [digest.readUInt32LE(0), digest.readUInt32LE(4) || 1];
}
