/**
 * A circuit breaker for each URL of a destination: where everything has failed for a while, nothing is sent there but one
 * request at a time, which probes. A URL that answers some requests is not cut off; its lane sends it less.
 *
 * It only ever makes deliveries wait: it neither discards nor disables. A burst of failures is no reason to open: what
 * failed is put right by its next attempt.
 */

export type BreakerState = 'closed' | 'open' | 'half-open';

/** What to do with a request now. */
export type Permission = 'send' | 'probe' | 'park';

/** It opens where nothing but failures came for so long, and so many. */
const failing = { forMs: 10_000, times: 5 };
/** How long it stays open: doubled with each probe that fails. */
const openMs = { first: 5_000, most: 60_000 };
/** A delivery that was to be the next probe and did not come in time is not waited for. */
const claimExpiresMs = 30_000;

export class Breaker {
  readonly #onChange: (state: BreakerState, before: BreakerState) => void;
  #state: BreakerState = 'closed';
  #run = 0;
  #runStartedAt = 0;
  #openForMs = openMs.first;
  /** When it may be half-open next. */
  #until = 0;
  #claimedUntil = 0;
  #since = -Infinity;

  constructor(onChange: (state: BreakerState, before: BreakerState) => void) {
    this.#onChange = onChange;
  }

  get state(): BreakerState {
    return this.#state;
  }

  /** When it opened, or closed again, by the clock of `ask`; -Infinity where it was never open. */
  get since(): number {
    return this.#since;
  }

  /** Whether nothing is known of the URL that would be missed. */
  get idle(): boolean {
    return this.#state === 'closed' && this.#run === 0;
  }

  /**
   * Whether `ask` would say so; nothing comes of this question.
   *
   * @param now milliseconds of a clock that only goes forward
   */
  parks(now: number): boolean {
    return this.#state === 'half-open' || (this.#state === 'open' && now < this.#until);
  }

  /** Whoever is told `probe` or `send` has to `report`. */
  ask(now: number): Permission {
    if (this.#state === 'closed') return 'send';
    if (this.parks(now)) return 'park';
    this.#become('half-open');
    return 'probe';
  }

  /**
   * In how many milliseconds the next probe may be sent, for the one delivery that will come back to make it; undefined
   * for all others. Without it, nothing might come by while everything waits in long tiers.
   */
  claimProbe(now: number): number | undefined {
    if (this.#state !== 'open' || now < this.#claimedUntil) return undefined;
    const inMs = Math.max(0, this.#until - now);
    this.#claimedUntil = now + inMs + claimExpiresMs;
    return inMs;
  }

  /** Tells how a request ended that `ask` had permitted. */
  report(succeeded: boolean, now: number): void {
    if (this.#state === 'closed') this.#count(succeeded, now);
    // Late answers to requests sent before it opened say nothing new, unless they are good news.
    else if (succeeded) this.#close(now);
    else if (this.#state === 'half-open') this.#open(now, Math.min(this.#openForMs * 2, openMs.most));
  }

  /** Its URL is not used any more. */
  forget(): void {
    this.#close(-Infinity);
  }

  #count(succeeded: boolean, now: number): void {
    if (succeeded) {
      this.#run = 0;
      return;
    }
    this.#run += 1;
    if (this.#run === 1) this.#runStartedAt = now;
    if (this.#run >= failing.times && now - this.#runStartedAt >= failing.forMs)
      this.#open(now, openMs.first);
  }

  #open(now: number, forMs: number): void {
    if (this.#state === 'closed') this.#since = now;
    this.#openForMs = forMs;
    this.#until = now + forMs;
    this.#claimedUntil = 0;
    this.#become('open');
  }

  #close(now: number): void {
    this.#since = now;
    this.#run = 0;
    this.#become('closed');
  }

  #become(state: BreakerState): void {
    const before = this.#state;
    if (state === before) return;
    this.#state = state;
    this.#onChange(state, before);
  }
}
