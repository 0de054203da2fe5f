/**
 * Which ordered deliveries of one partition wait in tiers: of each key their sequences, sorted, and until when
 * the last of them waits. A million may, so there is nothing for each but a number, and keys are hashes.
 */

interface Waiting {
  /** A number where there is one, which is what most keys have. A sequence is here once for each copy. */
  sequences: number | number[];
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
    return typeof sequences === 'number' ? sequences : (sequences[0] ?? Infinity);
  }

  has(key: number, sequence: number): boolean {
    const sequences = this.#keys.get(key)?.sequences;
    if (typeof sequences !== 'object') return sequences === sequence;
    return sequences[placeOf(sequences, sequence)] === sequence;
  }

  /** Until when the last of the key waits, in milliseconds since the epoch; 0 where none does. */
  until(key: number): number {
    return this.#keys.get(key)?.until ?? 0;
  }

  add(key: number, sequence: number, until: number): void {
    const sequences = this.append(key, sequence, until);
    if (sequences && sequence < (sequences.at(-2) ?? 0)) {
      sequences.pop();
      sequences.splice(placeOf(sequences, sequence), 0, sequence);
    }
  }

  /** Adds without regard to order, for very many; `sort()` is to be called before anything else. */
  append(key: number, sequence: number, until: number): number[] | undefined {
    const waiting = this.#keys.get(key);
    if (!waiting) {
      this.#keys.set(key, { sequences: sequence, until });
      return undefined;
    }
    if (typeof waiting.sequences === 'number') waiting.sequences = [waiting.sequences, sequence];
    else waiting.sequences.push(sequence);
    waiting.until = Math.max(waiting.until, until);
    return waiting.sequences;
  }

  sort(): void {
    for (const { sequences } of this.#keys.values()) {
      if (typeof sequences === 'object') sequences.sort((a, b) => a - b);
    }
  }

  /** Takes one copy out, where there is one. */
  remove(key: number, sequence: number): void {
    if (!this.has(key, sequence)) return;
    const sequences = this.#keys.get(key)?.sequences;
    if (typeof sequences !== 'object' || sequences.length === 1) this.#keys.delete(key);
    else if (sequences[0] === sequence) sequences.shift();
    else sequences.splice(placeOf(sequences, sequence), 1);
  }

  /** What waits of keys whose last should have come before `before`: pairs of a key and a sequence. */
  overdue(before: number): (readonly [number, number])[] {
    return Array.from(this.#keys).flatMap(([key, { sequences, until }]) =>
      until < before ? [sequences].flat().map((sequence) => [key, sequence] as const) : [],
    );
  }
}

/** Where `sequence` is in the sorted list, or belongs. */
function placeOf(sequences: readonly number[], sequence: number): number {
  let low = 0;
  let high = sequences.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sequences[middle] ?? Infinity) < sequence) low = middle + 1;
    else high = middle;
  }
  return low;
}
