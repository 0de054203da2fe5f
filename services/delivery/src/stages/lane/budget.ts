/**
 * A limited resource that all lanes share. A lane may hold as much as is free, and no more (the dynamic thresholds of
 * shared-memory switches, Choudhury and Hahne, 1998). One lane alone gets half, ten lanes get an eleventh each, so
 * something is always left for the next lane.
 *
 * A reserve is kept for lanes whose receivers answer quickly, because they release what they hold in a moment.
 */

export interface Amount {
  readonly count: number;
  readonly bytes: number;
}

/** Whether the receiver of a lane answers quickly, has not answered yet, or is slow. */
export type Standing = 'quick' | 'new' | 'slow';

/** The part of the reserve that a lane may not use. A new lane may turn out to be quick or slow. */
const reserved: Readonly<Record<Standing, number>> = { quick: 0, new: 0.5, slow: 1 };

export class Budget {
  readonly #total: Amount;
  readonly #reserve: number;
  #count = 0;
  #bytes = 0;

  /** @param reserve the part that is a reserve, from 0 to 1 */
  constructor(total: Amount, reserve: number) {
    this.#total = total;
    this.#reserve = reserve;
  }

  get count(): number {
    return this.#count;
  }

  /** The used part: 0 for nothing, 1 for all. */
  get fill(): number {
    return Math.max(this.#count / this.#total.count, this.#bytes / this.#total.bytes);
  }

  acquire(bytes: number): void {
    this.#count += 1;
    this.#bytes += bytes;
  }

  release(bytes: number): void {
    this.#count -= 1;
    this.#bytes -= bytes;
  }

  /** Whether a lane that holds `held` may have one more. */
  admits(held: Amount, standing: Standing): boolean {
    const usable = 1 - this.#reserve * reserved[standing];
    return (
      held.count < this.#total.count * usable - this.#count &&
      held.bytes < this.#total.bytes * usable - this.#bytes
    );
  }
}
