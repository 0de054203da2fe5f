/** Counts for each destination or source that exists. */

/** What is counted under an id that does not exist: headers may hold any. */
export const unknownId = 'unknown';

export class CountsById<Counts> implements Iterable<[string, Counts]> {
  readonly #create: () => Counts;
  readonly #exists: (id: string) => boolean;
  readonly #counts = new Map<string, Counts>();

  constructor(create: () => Counts, exists: (id: string) => boolean) {
    this.#create = create;
    this.#exists = exists;
  }

  /** To be counted on directly; not to be kept, since what is deleted and created again has others. */
  of(id: string): Counts {
    return this.#counts.get(id) ?? this.#made(this.#exists(id) ? id : unknownId);
  }

  /** Forgets the counts of what does not exist any more. */
  changed(id: string): void {
    if (!this.#exists(id)) this.#counts.delete(id);
  }

  [Symbol.iterator](): Iterator<[string, Counts]> {
    return this.#counts.entries();
  }

  #made(id: string): Counts {
    const known = this.#counts.get(id);
    if (known !== undefined) return known;
    const counts = this.#create();
    this.#counts.set(id, counts);
    return counts;
  }
}
