/** The request rate of a lane: the lower of the configured rate limit and the receiver's pace, as a token bucket. */
import type { LimitsNow, OwnLimits } from './own-limits.ts';
import { Pace } from './pace.ts';

/** The tokens that the bucket holds, in seconds of its rate. */
const burstSeconds = 0.1;
/** A token that is missing less than this counts as whole. */
const roundingError = 1e-6;

/** Rates are requests a second, times milliseconds of a monotonic clock. */
export class Rate {
  readonly #pace = new Pace();
  readonly #limits: LimitsNow;
  /** Full at first. */
  #tokens = Infinity;
  #countedAt = 0;

  constructor(limits: LimitsNow) {
    this.#limits = limits;
  }

  /** Infinity for no limit. */
  get perSecond(): number {
    return this.#perSecondBy(this.#limits());
  }

  /** Whether the receiver has asked for less. */
  get isPaced(): boolean {
    return this.#pace.rate !== Infinity;
  }

  /** Counts an attempt that was answered or failed. */
  answered(throttled: boolean, now: number): void {
    this.#pace.answered(throttled, now);
  }

  /** Returns in how many whole milliseconds so many requests may be sent. */
  delayMs(requests: number, now: number): number {
    const own = this.#limits();
    const rate = this.#perSecondBy(own);
    if (rate === Infinity) return 0;
    const ownBurst = rate === own?.rate ? own.burst : undefined;
    const burst = Math.max(1, ownBurst ?? rate * burstSeconds);
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#countedAt) / 1_000) * rate);
    this.#countedAt = now;
    const missing = Math.min(requests, burst) - this.#tokens;
    return missing <= roundingError ? 0 : Math.ceil(((missing - roundingError) / rate) * 1_000);
  }

  use(requests: number): void {
    if (this.perSecond !== Infinity) this.#tokens -= requests;
  }

  /** Requests that were counted were not sent. */
  refund(requests: number): void {
    if (this.perSecond !== Infinity) this.#tokens += requests;
  }

  #perSecondBy(own: OwnLimits | undefined): number {
    return Math.min(own?.rate ?? Infinity, this.#pace.rate);
  }
}
