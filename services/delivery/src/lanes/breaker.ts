/**
 * A circuit breaker for each host (scheme, name and port): when it has failed for a while, all the time or most of
 * it, nothing is sent there, and what would have been sent takes the next step of its schedule instead. Then one
 * request is let through as a probe. It only ever puts off: it neither discards nor disables.
 *
 * A burst of failures is no reason to open: the lane sends less by itself, and what failed is put right by its
 * next attempt. So both conditions ask for some time of failing, however many attempts were made in it.
 */

export type BreakerState = 'closed' | 'open' | 'half-open';

/** What to do with a request now. */
export type Permission = 'send' | 'probe' | 'park';

const failingForMs = 10_000;
/** Opens after so many failures in a row … */
const longestRun = 10;
/** … or where at least so many attempts of a period failed in this share. */
const ratedAttempts = 50;
const failureShare = 0.8;
const periodMs = 15_000;
/** How long it stays open: doubled with each probe that fails. */
const openMs = { first: 5_000, most: 60_000 };
/** A probe whose outcome never came, because its record was lost to another member, is forgotten after this. */
const probeExpiresMs = 30_000;

export class Breaker {
  readonly #onChange: (state: BreakerState) => void;
  #state: BreakerState = 'closed';
  #run = 0;
  #runStartedAt = 0;
  #periodStartedAt = 0;
  #attempts = 0;
  #failures = 0;
  #openForMs = openMs.first;
  /** When it may be half-open next, or when the probe under way is given up. */
  #until = 0;

  constructor(onChange: (state: BreakerState) => void) {
    this.#onChange = onChange;
  }

  get state(): BreakerState {
    return this.#state;
  }

  /** Whether nothing is known of the host that would be missed. */
  get idle(): boolean {
    return this.#state === 'closed' && this.#run === 0;
  }

  /** Whether `ask` would say so; nothing comes of this question. */
  parks(now: number): boolean {
    return this.#state !== 'closed' && now < this.#until;
  }

  /** @param now milliseconds of a clock that only goes forward */
  ask(now: number): Permission {
    if (this.#state === 'closed') return 'send';
    if (this.parks(now)) return 'park';
    this.#until = now + probeExpiresMs;
    this.#become('half-open');
    return 'probe';
  }

  /** Tells how a request ended that `ask` had permitted. */
  report(succeeded: boolean, now: number): void {
    if (this.#state === 'closed') this.#count(succeeded, now);
    // Late answers to requests sent before it opened say nothing new, unless they are good news.
    else if (succeeded) this.#close();
    else if (this.#state === 'half-open') this.#open(now, Math.min(this.#openForMs * 2, openMs.most));
  }

  #count(succeeded: boolean, now: number): void {
    if (now - this.#periodStartedAt > periodMs) {
      this.#periodStartedAt = now;
      this.#attempts = 0;
      this.#failures = 0;
    }
    this.#attempts += 1;
    if (succeeded) {
      this.#run = 0;
      return;
    }
    this.#failures += 1;
    this.#run += 1;
    if (this.#run === 1) this.#runStartedAt = now;
    const allFail = this.#run >= longestRun && now - this.#runStartedAt >= failingForMs;
    const mostFail =
      this.#attempts >= ratedAttempts &&
      this.#failures >= this.#attempts * failureShare &&
      now - this.#periodStartedAt >= failingForMs;
    if (allFail || mostFail) this.#open(now, openMs.first);
  }

  #open(now: number, forMs: number): void {
    this.#openForMs = forMs;
    this.#until = now + forMs;
    this.#become('open');
  }

  #close(): void {
    this.#run = 0;
    this.#attempts = 0;
    this.#failures = 0;
    this.#become('closed');
  }

  #become(state: BreakerState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#onChange(state);
  }
}

/** The breakers of all hosts. Those with nothing to remember are forgotten. */
export class Breakers {
  readonly #onChange: (host: string, state: BreakerState) => void;
  readonly #breakers = new Map<string, Breaker>();

  constructor(onChange: (host: string, state: BreakerState) => void) {
    this.#onChange = onChange;
  }

  /** @param host scheme, name and port, such as `https://hooks.example.com:8443` */
  of(host: string): Breaker {
    let breaker = this.#breakers.get(host);
    if (!breaker) {
      if (this.#breakers.size >= 10_000) this.#forgetIdle();
      breaker = new Breaker((state) => {
        this.#onChange(host, state);
      });
      this.#breakers.set(host, breaker);
    }
    return breaker;
  }

  count(state: BreakerState): number {
    let count = 0;
    for (const breaker of this.#breakers.values()) if (breaker.state === state) count += 1;
    return count;
  }

  #forgetIdle(): void {
    for (const [host, breaker] of this.#breakers) if (breaker.idle) this.#breakers.delete(host);
  }
}
