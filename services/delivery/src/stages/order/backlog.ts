/**
 * The ordered deliveries of one partition that wait in retry topics: for each key their sequences, sorted, and until when
 * the first of them waits. There may be a million, so each costs one number, and keys are hashes.
 */
import { Sequences } from './sequences.ts';

interface Waiting {
  /** A number for a single delivery, which is the usual case. A sequence is present once for each copy. */
  sequences: number | Sequences<number>;
  until: number;
}

/** Times are milliseconds since the epoch. */
export class Backlog {
  readonly #keys = new Map<number, Waiting>();

  /** The number of keys with waiting deliveries. */
  get keys(): number {
    return this.#keys.size;
  }

  /** The lowest waiting sequence; Infinity where none waits. */
  first(key: number): number {
    const sequences = this.#keys.get(key)?.sequences ?? Infinity;
    return typeof sequences === 'number' ? sequences : (sequences.first ?? Infinity);
  }

  /** Whether at least so many copies wait. */
  has(key: number, sequence: number, copies = 1): boolean {
    const sequences = this.#keys.get(key)?.sequences;
    if (typeof sequences !== 'object') return sequences === sequence && copies === 1;
    return sequences.has(sequence, copies);
  }

  /** Until when the first delivery of the key waits, or an earlier first one waited; 0 where none waits. */
  until(key: number): number {
    return this.#keys.get(key)?.until ?? 0;
  }

  add(key: number, sequence: number, until: number): void {
    const waiting = this.#waitingOf(key, sequence, until);
    if (typeof waiting.sequences === 'object') waiting.sequences.add(sequence);
    if (this.first(key) === sequence) waiting.until = until;
  }

  /** Adds without sorting, for very many. Call `sort()` before any other method. */
  append(key: number, sequence: number, until: number): void {
    const waiting = this.#waitingOf(key, sequence, until);
    if (typeof waiting.sequences === 'object') waiting.sequences.append(sequence);
    if (this.first(key) === sequence) waiting.until = until;
  }

  #waitingOf(key: number, sequence: number, until: number): Waiting {
    let waiting = this.#keys.get(key);
    if (!waiting) this.#keys.set(key, (waiting = { sequences: sequence, until }));
    else if (typeof waiting.sequences === 'number') waiting.sequences = new Sequences(waiting.sequences);
    return waiting;
  }

  /** The first delivery of the key is expected at `until` or before. */
  expect(key: number, until: number): void {
    const waiting = this.#keys.get(key);
    if (waiting) waiting.until = Math.min(waiting.until, until);
  }

  sort(): void {
    for (const { sequences } of this.#keys.values()) {
      if (typeof sequences === 'object') sequences.sort();
    }
  }

  /** Removes one copy, where there is one. */
  remove(key: number, sequence: number): void {
    if (!this.has(key, sequence)) return;
    const sequences = this.#keys.get(key)?.sequences;
    if (typeof sequences !== 'object' || sequences.size === 1) this.#keys.delete(key);
    else sequences.remove(sequence);
  }

  /** Returns all deliveries of keys whose first was expected before `before`, as pairs of key and sequence. */
  overdue(before: number): (readonly [number, number])[] {
    return Array.from(this.#keys).flatMap(([key, { sequences, until }]) => {
      if (until >= before) return [];
      const all = typeof sequences === 'number' ? [sequences] : sequences.toArray();
      return all.map((sequence) => [key, sequence] as const);
    });
  }
}
