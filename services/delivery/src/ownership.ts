/**
 * Since when this member has owned a partition number, in all topics. A member that owned it before may have written to
 * its tiers until then, and what it wrote last is not known here.
 */
import type { Work } from '@tailrace/kafka';

type OwnedWork = Pick<Work, 'partition' | 'revoked'>;

export class Ownership {
  readonly #now: () => number;
  #joinedAt = -Infinity;
  readonly #owned = new Map<number, { readonly work: OwnedWork; readonly since: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** To be called after each rebalance, when this member has its part. */
  joined(): void {
    this.#joinedAt = this.#now();
  }

  /** Of the partition of some work that is not lost; or a later rebalance, where none of its work was asked about before. */
  since(work: OwnedWork): number {
    const known = this.#owned.get(work.partition);
    if (known && !known.work.revoked) return known.since;
    const since = this.#joinedAt;
    this.#owned.set(work.partition, { work, since });
    return since;
  }
}
