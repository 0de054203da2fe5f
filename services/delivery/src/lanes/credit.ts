/**
 * For how long reading may be paused for the sake of a lane, before the lane counts as one that does not keep up. Bursts
 * and backlogs are worth waiting for, and so is a receiver that pauses for a moment; one that makes the others wait again
 * and again is not.
 *
 * It is used up while reading is paused, and regained slowly. A lane begins with little, and earns more with each quick
 * answer. What all lanes together may use is bounded in the same way.
 */

export interface CreditTerms {
  /** What there is at first, and at most before any is earned. */
  readonly firstMs: number;
  readonly mostMs: number;
  /** Of the time that passes, what is regained by one that has the most; by others less, in proportion. */
  readonly regained: number;
}

const earnedMs = 10;
/** Once it is used up, so much has to be regained first. */
const trustedMs = 1_000;

/** Times are milliseconds. */
export class Credit {
  readonly #terms: CreditTerms;
  #most: number;
  #left: number;
  #countedAt: number;
  #spent = false;

  constructor(terms: CreditTerms, now: number) {
    this.#terms = terms;
    this.#most = terms.firstMs;
    this.#left = terms.firstMs;
    this.#countedAt = now;
  }

  earn(): void {
    if (this.#most >= this.#terms.mostMs) return;
    this.#most += earnedMs;
    this.#left += earnedMs;
  }

  charge(ms: number, now: number): void {
    this.#count(now);
    this.#left -= ms;
    if (this.#left <= 0) this.useUp(now);
  }

  useUp(now: number): void {
    this.#count(now);
    this.#left = 0;
    this.#spent = true;
  }

  isLeft(now: number): boolean {
    this.#count(now);
    return !this.#spent;
  }

  #count(now: number): void {
    const { regained, mostMs } = this.#terms;
    const rate = (regained * this.#most) / mostMs;
    this.#left = Math.min(this.#most, this.#left + (now - this.#countedAt) * rate);
    this.#countedAt = now;
    if (this.#left >= trustedMs) this.#spent = false;
  }
}
