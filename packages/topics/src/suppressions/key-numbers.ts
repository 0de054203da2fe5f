/**
 * Times by key, for up to a million keys, in flat memory: 64 bits of a hash of each key and its time, in an open-addressing
 * table that is at most two thirds full. A Map of texts would take four times as much, and all of it on the heap.
 *
 * Two keys with the same 64 bits would share a time. With a million keys in the table and a thousand million others that are
 * looked up, the probability of one such pair is 1 in 18,000.
 */
import { hash } from 'node:crypto';

const firstCapacity = 1_024;
/** Two words of the hash and one time for each place. */
const bytesOfPlace = 16;

export class KeyTimes {
  /** The hashes, two words a place; both 0 where the place is free. */
  #hashes = new Uint32Array(firstCapacity * 2);
  #times = new Float64Array(firstCapacity);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    return this.#times.length * bytesOfPlace;
  }

  /** Undefined where the key is not in the table. */
  get(key: string): number | undefined {
    if (this.#size === 0) return undefined;
    const [high, low] = hashOf(key);
    const place = this.#placeOf(high, low);
    return this.#isFree(place) ? undefined : this.#times[place];
  }

  /** @param time milliseconds since the epoch */
  set(key: string, time: number): void {
    if ((this.#size + 1) * 3 > this.#times.length * 2) this.#grow();
    const [high, low] = hashOf(key);
    this.#put(high, low, time);
  }

  delete(key: string): void {
    if (this.#size === 0) return;
    const [high, low] = hashOf(key);
    let free = this.#placeOf(high, low);
    if (this.#isFree(free)) return;
    this.#size -= 1;
    // Moves up later entries that would not be found behind a free place.
    const mask = this.#times.length - 1;
    for (let place = (free + 1) & mask; !this.#isFree(place); place = (place + 1) & mask) {
      const wanted = (this.#hashes[place * 2] ?? 0) & mask;
      if (((place - wanted) & mask) < ((place - free) & mask)) continue;
      this.#hashes.copyWithin(free * 2, place * 2, place * 2 + 2);
      this.#times[free] = this.#times[place] ?? 0;
      free = place;
    }
    this.#hashes.fill(0, free * 2, free * 2 + 2);
  }

  #put(high: number, low: number, time: number): void {
    const place = this.#placeOf(high, low);
    if (this.#isFree(place)) {
      this.#hashes[place * 2] = high;
      this.#hashes[place * 2 + 1] = low;
      this.#size += 1;
    }
    this.#times[place] = time;
  }

  /** The place of this hash, or the free one where it belongs. */
  #placeOf(high: number, low: number): number {
    const mask = this.#times.length - 1;
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
    const times = this.#times;
    this.#hashes = new Uint32Array(hashes.length * 2);
    this.#times = new Float64Array(times.length * 2);
    this.#size = 0;
    for (const [place, time] of times.entries()) {
      const high = hashes[place * 2] ?? 0;
      const low = hashes[place * 2 + 1] ?? 0;
      if (high !== 0 || low !== 0) this.#put(high, low, time);
    }
  }
}

function hashOf(key: string): readonly [high: number, low: number] {
  const digest = hash('sha256', key, 'buffer');
  // A hash of 0 would look like a free place.
  return [digest.readUInt32LE(0), digest.readUInt32LE(4) || 1];
}
