/**
 * Since when this replica owns a partition number, in all topics. An earlier owner may have written to the retry topics
 * until then, with due times that are not known here.
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

  /** A rebalance is over. */
  joined(): void {
    this.#joinedAt = this.#now();
  }

  /**
   * Returns since when the partition of `work` is owned, in milliseconds since the epoch, or the time of a later
   * rebalance where this was not called for the partition before.
   *
   * @param work of a partition that is not revoked
   */
  since(work: OwnedWork): number {
    const known = this.#owned.get(work.partition);
    if (known && !known.work.revoked) return known.since;
    const since = this.#joinedAt;
    this.#owned.set(work.partition, { work, since });
    return since;
  }
}
