/**
 * Spreads work evenly, at a rate. It never makes up for time that was lost: a rate is set for the sake of who
 * receives the work, and after a pause a burst would break it.
 */
export class RateLimiter {
  readonly #perSecond: number;
  readonly #now: () => number;
  #nextAt = -Infinity;

  constructor(perSecond: number, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#now = now;
  }

  /** Milliseconds to wait before more may be done; 0 for at once. */
  get waitMs(): number {
    return Math.max(0, this.#nextAt - this.#now());
  }

  /** Takes note that so much is done now. */
  spend(count: number): void {
    this.#nextAt = Math.max(this.#nextAt, this.#now()) + (count / this.#perSecond) * 1_000;
  }
}
