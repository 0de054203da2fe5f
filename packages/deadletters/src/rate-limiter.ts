/** Spreads work evenly at a rate. A pause is not followed by a burst, which could overload the receiver. */
export class RateLimiter {
  readonly #now: () => number;
  #nextAt = -Infinity;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Milliseconds to wait before the next work. */
  get waitMs(): number {
    return Math.max(0, this.#nextAt - this.#now());
  }

  /** Counts work that is done now, at the rate of now. */
  spend(count: number, perSecond: number): void {
    this.#nextAt = Math.max(this.#nextAt, this.#now()) + (count / perSecond) * 1_000;
  }
}
