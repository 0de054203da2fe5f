/**
 * Which ordered deliveries of one partition wait in tiers: of each key their sequences, sorted, and until when
 * the first of them waits. A million may, so there is nothing for each but a number, and keys are hashes.
 */
import { Sequences } from './sequences.ts';

interface Waiting {
  /** A number where there is one, which is what most keys have. A sequence is here once for each copy. */
  sequences: number | Sequences<number>;
  until: number;
}

export class Backlog {
  readonly #keys = new Map<number, Waiting>();

  /** Keys of which something waits. */
  get keys(): number {
    return this.#keys.size;
  }

  /** The lowest sequence that waits; Infinity where none does. */
  first(key: number): number {
    const sequences = this.#keys.get(key)?.sequences ?? Infinity;
    return typeof sequences === 'number' ? sequences : (sequences.first ?? Infinity);
  }

  /** Whether it waits, in at least so many copies. */
  has(key: number, sequence: number, copies = 1): boolean {
    const sequences = this.#keys.get(key)?.sequences;
    if (typeof sequences !== 'object') return sequences === sequence && copies === 1;
    return sequences.has(sequence, copies);
  }

  /**
   * Until when the first of the key waits, or one waited that was before it, in milliseconds since the epoch; 0
   * where none waits.
   */
  until(key: number): number {
    return this.#keys.get(key)?.until ?? 0;
  }

  add(key: number, sequence: number, until: number): void {
    const waiting = this.#waitingOf(key, sequence, until);
    if (typeof waiting.sequences === 'object') waiting.sequences.add(sequence);
    if (this.first(key) === sequence) waiting.until = until;
  }

  /** Adds without regard to order, for very many; `sort()` is to be called before anything else. */
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

  /** Its first is back, or will be, at `until` or before. */
  expect(key: number, until: number): void {
    const waiting = this.#keys.get(key);
    if (waiting) waiting.until = Math.min(waiting.until, until);
  }

  sort(): void {
    for (const { sequences } of this.#keys.values()) {
      if (typeof sequences === 'object') sequences.sort();
    }
  }

  /** Takes one copy out, where there is one. */
  remove(key: number, sequence: number): void {
    if (!this.has(key, sequence)) return;
    const sequences = this.#keys.get(key)?.sequences;
    if (typeof sequences !== 'object' || sequences.size === 1) this.#keys.delete(key);
    else sequences.remove(sequence);
  }

  /** What waits of keys whose first should have come before `before`: pairs of a key and a sequence. */
  overdue(before: number): (readonly [number, number])[] {
    return Array.from(this.#keys).flatMap(([key, { sequences, until }]) => {
      if (until >= before) return [];
      const all = typeof sequences === 'number' ? [sequences] : sequences.toArray();
      return all.map((sequence) => [key, sequence] as const);
    });
  }
}
