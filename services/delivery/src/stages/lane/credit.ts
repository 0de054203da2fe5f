/**
 * How long reading may be paused for a lane before the lane counts as one that does not keep up. Bursts, backlogs and
 * short pauses of a receiver are waited for; a receiver that delays the others again and again is not.
 *
 * Credit is spent while reading is paused, and regained slowly. A lane begins with little, and earns more with each quick
 * answer. The same rule bounds what all lanes together may use.
 */

export interface CreditTerms {
  /** The initial credit, and the maximum before any was earned. */
  readonly firstMs: number;
  readonly mostMs: number;
  /** The part of the passing time that is regained with the highest maximum; with a lower one less, in proportion. */
  readonly regained: number;
}

const earnedMs = 10;
/** Credit that ran out counts again when this much was regained. */
const trustedMs = 1_000;

/** Times are milliseconds of a monotonic clock. */
export class Credit {
  readonly #terms: CreditTerms;
  #most: number;
  #left: number;
  #countedAt: number;
  #isExhausted = false;

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
    this.#regain(now);
    this.#left -= ms;
    if (this.#left <= 0) this.exhaust(now);
  }

  exhaust(now: number): void {
    this.#regain(now);
    this.#left = 0;
    this.#isExhausted = true;
  }

  isLeft(now: number): boolean {
    this.#regain(now);
    return !this.#isExhausted;
  }

  #regain(now: number): void {
    const { regained, mostMs } = this.#terms;
    const rate = (regained * this.#most) / mostMs;
    this.#left = Math.min(this.#most, this.#left + (now - this.#countedAt) * rate);
    this.#countedAt = now;
    if (this.#left >= trustedMs) this.#isExhausted = false;
  }
}
