/** Counts for each existing destination or source. */

/** The id for counts of unknown ids: record headers may contain any id, and metrics need a bounded set. */
export const unknownId = 'unknown';

export class CountsById<Counts> implements Iterable<[string, Counts]> {
  readonly #create: () => Counts;
  readonly #exists: (id: string) => boolean;
  readonly #counts = new Map<string, Counts>();

  constructor(create: () => Counts, exists: (id: string) => boolean) {
    this.#create = create;
    this.#exists = exists;
  }

  /** The counts of `id`, to be changed directly. Do not keep them: a deleted and recreated entry has new counts. */
  of(id: string): Counts {
    return this.#counts.get(id) ?? this.#countsOf(this.#exists(id) ? id : unknownId);
  }

  /** Removes the counts of `id` if it no longer exists. */
  changed(id: string): void {
    if (!this.#exists(id)) this.#counts.delete(id);
  }

  [Symbol.iterator](): Iterator<[string, Counts]> {
    return this.#counts.entries();
  }

  #countsOf(id: string): Counts {
    const known = this.#counts.get(id);
    if (known !== undefined) return known;
    const counts = this.#create();
    this.#counts.set(id, counts);
    return counts;
  }
}
