/**
 * The circuit breaker of one URL of a destination. Where every request has failed for some time, only one request at a
 * time is sent there as a probe. A URL that answers some requests stays closed; its lane sends it less.
 *
 * A breaker only delays deliveries: it discards and disables nothing. A burst of failures does not open it, because the
 * next attempts repair those.
 */

export type BreakerState = 'closed' | 'open' | 'half-open';

/** It opens after only failures for at least this time, and at least this many. */
const failing = { forMs: 10_000, times: 5 };
/** How long it stays open: doubled with each failed probe. */
const openMs = { first: 5_000, most: 60_000 };
/** How long it stays open at most while another URL of the destination gets requests: a probe beside them costs no delivery. */
const besideMs = 1_000;
/** How long a claimed probe is waited for after its time. */
const claimExpiresMs = 30_000;

/** Times are milliseconds of a monotonic clock. */
export class Breaker {
  readonly #onChange: (state: BreakerState, before: BreakerState) => void;
  #state: BreakerState = 'closed';
  /** Failures since the last success. */
  #failures = 0;
  #failingSince = 0;
  #openForMs = openMs.first;
  /** When the next probe may be sent. */
  #until = 0;
  /** When the last probe failed, or it opened. */
  #failedAt = 0;
  #claimedUntil = 0;
  #since = -Infinity;

  constructor(onChange: (state: BreakerState, before: BreakerState) => void) {
    this.#onChange = onChange;
  }

  get state(): BreakerState {
    return this.#state;
  }

  /** When it opened, or closed again; -Infinity where it was never open. */
  get since(): number {
    return this.#since;
  }

  /** Whether it is closed and the last request did not fail. */
  get isIdle(): boolean {
    return this.#state === 'closed' && this.#failures === 0;
  }

  /** Whether `permit` would return `park`. Changes nothing. */
  isBlocked(now: number): boolean {
    return this.#state === 'half-open' || (this.#state === 'open' && now < this.#until);
  }

  /** @param beside whether the delivery is sent to another URL in any case */
  permit(now: number, beside = false): 'send' | 'probe' | 'park' {
    if (this.#state === 'closed') return 'send';
    const isFree = beside && this.#state === 'open' && now >= this.#failedAt + besideMs;
    if (this.isBlocked(now) && !isFree) return 'park';
    this.#become('half-open');
    return 'probe';
  }

  /**
   * Returns in how many milliseconds the next probe may be sent, for the first delivery that calls this, and undefined for
   * all others. Without a claim, all deliveries may wait in long retry topics when the probe is due.
   */
  claimProbe(now: number): number | undefined {
    if (this.#state !== 'open' || now < this.#claimedUntil) return undefined;
    const inMs = Math.max(0, this.#until - now);
    this.#claimedUntil = now + inMs + claimExpiresMs;
    return inMs;
  }

  /** @param succeeded undefined where the request did not get so far, and shows nothing */
  report(succeeded: boolean | undefined, now: number): void {
    if (succeeded === undefined) {
      if (this.#state === 'half-open') this.#open(now, this.#openForMs);
    } else if (this.#state === 'closed') this.#count(succeeded, now);
    // Late failures of requests that were sent before it opened show nothing new.
    else if (succeeded) this.#close(now);
    else if (this.#state === 'half-open') this.#reopen(now);
  }

  /** The permitted request was not sent. Where it was the probe, the next request is. */
  notSent(): void {
    if (this.#state === 'half-open') this.#become('open');
  }

  /** Its URL is no longer used, or was not for long. */
  forget(): void {
    this.#close(-Infinity);
  }

  #count(succeeded: boolean, now: number): void {
    if (succeeded) {
      this.#failures = 0;
      return;
    }
    this.#failures += 1;
    if (this.#failures === 1) this.#failingSince = now;
    if (this.#failures >= failing.times && now - this.#failingSince >= failing.forMs)
      this.#open(now, openMs.first);
  }

  /** A probe before its time, beside another URL, does not change when the next one is due. */
  #reopen(now: number): void {
    if (now >= this.#until) {
      this.#open(now, Math.min(this.#openForMs * 2, openMs.most));
    } else {
      this.#failedAt = now;
      this.#become('open');
    }
  }

  #open(now: number, forMs: number): void {
    if (this.#state === 'closed') this.#since = now;
    this.#openForMs = forMs;
    this.#until = now + forMs;
    this.#failedAt = now;
    this.#claimedUntil = 0;
    this.#become('open');
  }

  #close(now: number): void {
    this.#since = now;
    this.#failures = 0;
    this.#become('closed');
  }

  #become(state: BreakerState): void {
    const before = this.#state;
    if (state === before) return;
    this.#state = state;
    this.#onChange(state, before);
  }
}
