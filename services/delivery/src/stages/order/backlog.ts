/**
 * The ordered deliveries of one partition that wait in retry topics: for each key their sequences, sorted, and until when
 * they wait: until the same time, so that they return in order. There may be a million, so each costs one number, and keys are
 * hashes.
 */
import { Sequences } from './sequences.ts';

interface Waiting {
  /** A number for a single delivery, which is the usual case. A sequence is present once for each copy. */
  sequences: number | Sequences<number>;
  until: number;
  /** When the first one is, or was, expected. */
  expectedAt: number;
}

/** Times are milliseconds since the epoch. */
export class Backlog {
  readonly #keys: Map<number, Waiting>;

  constructor(keys = new Map<number, Waiting>()) {
    this.#keys = keys;
  }

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

  /** Until when the deliveries of the key wait; 0 where none waits. */
  until(key: number): number {
    return this.#keys.get(key)?.until ?? 0;
  }

  /** When the first delivery of the key is, or was, expected; 0 where none waits. */
  expectedAt(key: number): number {
    return this.#keys.get(key)?.expectedAt ?? 0;
  }

  add(key: number, sequence: number, until: number): void {
    const waiting = this.#keys.get(key);
    if (!waiting) {
      this.#keys.set(key, { sequences: sequence, until, expectedAt: until });
      return;
    }
    if (typeof waiting.sequences === 'number') waiting.sequences = new Sequences([waiting.sequences]);
    waiting.sequences.add(sequence);
    if (this.first(key) === sequence) waiting.until = waiting.expectedAt = until;
  }

  /** Deliveries of the key that arrive before the first wait until then, again. */
  postpone(key: number, until: number): void {
    const waiting = this.#keys.get(key);
    if (waiting) waiting.until = until;
  }

  /** The first delivery of the key is expected at `until` or before. */
  expect(key: number, until: number): void {
    const waiting = this.#keys.get(key);
    if (waiting) waiting.until = waiting.expectedAt = Math.min(waiting.until, until);
  }

  /** Removes one copy, where there is one. */
  remove(key: number, sequence: number): void {
    const waiting = this.#keys.get(key);
    if (!waiting || !this.has(key, sequence)) return;
    const { sequences } = waiting;
    if (typeof sequences !== 'object' || sequences.size === 1) {
      this.#keys.delete(key);
      return;
    }
    if (sequences.first === sequence) waiting.expectedAt = waiting.until;
    sequences.remove(sequence);
  }

  /** Returns all deliveries of keys whose first was expected before `before`, as pairs of key and sequence. */
  overdue(before: number): (readonly [number, number])[] {
    return Array.from(this.#keys).flatMap(([key, { sequences, expectedAt }]) => {
      if (expectedAt >= before) return [];
      const all = typeof sequences === 'number' ? [sequences] : sequences.toArray();
      return all.map((sequence) => [key, sequence] as const);
    });
  }
}

/** Collects the deliveries of a backlog in any order. They are sorted once, because there may be very many. */
export class BacklogBuilder {
  /** The lowest sequence of each key comes first. */
  readonly #keys = new Map<number, { sequences: number | number[]; until: number }>();

  add(key: number, sequence: number, until: number): void {
    const collected = this.#keys.get(key);
    if (!collected) {
      this.#keys.set(key, { sequences: sequence, until });
      return;
    }
    if (typeof collected.sequences === 'number') collected.sequences = [collected.sequences];
    const { sequences } = collected;
    const [first = Infinity] = sequences;
    sequences.push(sequence);
    if (sequence > first) return;
    sequences[sequences.length - 1] = first;
    sequences[0] = sequence;
    collected.until = until;
  }

  build(): Backlog {
    const sorted = new Map<number, Waiting>();
    for (const [key, { sequences: all, until }] of this.#keys) {
      const sequences = typeof all === 'number' ? all : new Sequences(all.sort((a, b) => a - b));
      sorted.set(key, { sequences, until, expectedAt: until });
      // So that the memory of both is not needed at the same time.
      this.#keys.delete(key);
    }
    return new Backlog(sorted);
  }
}
