/**
 * What all lanes share, and how it is shared: a lane may hold as much as is free, and no more (the dynamic thresholds of
 * shared-memory switches, Choudhury and Hahne, 1998). One alone gets half, ten get an eleventh each: however many they
 * are, something is left for the next one.
 *
 * A reserve is left to those whose receivers answer quickly: what they take they give back in a moment.
 */

export interface Amount {
  readonly count: number;
  readonly bytes: number;
}

/** Who asks: whether its receiver answers quickly, has not been heard of yet, or neither. */
export type Standing = 'quick' | 'new' | 'slow';

/** Of the reserve, what is not for them: one that is new may turn out to be either. */
const reserved: Readonly<Record<Standing, number>> = { quick: 0, new: 0.5, slow: 1 };

export class Budget {
  readonly #total: Amount;
  /** The part that is a reserve. */
  readonly #reserve: number;
  #count = 0;
  #bytes = 0;

  constructor(total: Amount, reserve: number) {
    this.#total = total;
    this.#reserve = reserve;
  }

  get count(): number {
    return this.#count;
  }

  /** How much of it is used: 0 for nothing, 1 for all. */
  get fill(): number {
    return Math.max(this.#count / this.#total.count, this.#bytes / this.#total.bytes);
  }

  take(bytes: number): void {
    this.#count += 1;
    this.#bytes += bytes;
  }

  giveBack(bytes: number): void {
    this.#count -= 1;
    this.#bytes -= bytes;
  }

  /** Whether one that holds `held` may have one more. */
  admits(held: Amount, standing: Standing): boolean {
    const usable = 1 - this.#reserve * reserved[standing];
    return (
      held.count < this.#total.count * usable - this.#count &&
      held.bytes < this.#total.bytes * usable - this.#bytes
    );
  }
}
