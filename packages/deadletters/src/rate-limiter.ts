/** Spreads work evenly at a rate. A pause is not followed by a burst, which could overload the receiver. */
export class RateLimiter {
  readonly #perSecond: number;
  readonly #now: () => number;
  #nextAt = -Infinity;

  constructor(perSecond: number, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#now = now;
  }

  /** Milliseconds to wait before the next work. */
  get waitMs(): number {
    return Math.max(0, this.#nextAt - this.#now());
  }

  /** Counts work that is done now. */
  spend(count: number): void {
    this.#nextAt = Math.max(this.#nextAt, this.#now()) + (count / this.#perSecond) * 1_000;
  }
}
