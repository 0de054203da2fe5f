/**
 * The pace that a receiver asks for by answering 429. Fewer requests in flight are no help against a receiver that
 * counts requests a second and turns the rest away at once: the faster it does so, the faster they follow. So the
 * pace goes down to somewhat less than what the receiver took lately, and from there up again, slowly at first and
 * faster the longer no 429 has come (as congestion control does: RFC 9438). A pace that stays at the limit costs one
 * 429 or two in some hundred requests, each of them a step of a delivery's schedule.
 *
 * Some receivers answer 429 to certain requests, however slowly they come. So where the pace is down to a part of what
 * was taken in the best second of the last minute, and still they turn some away, it was no help, and begins anew.
 *
 * Times are milliseconds of a clock that only goes forward.
 */

/** What is taken in a period tells the rate; within one, only the first 429 counts, the others were on their way. */
const periodMs = 1_000;
const backOff = 0.8;
/** Requests a second: so that a receiver that turns everything away is still asked. */
const leastRate = 1;
/** Of the best second, the part that the pace does not fall below; one is remembered for this time, or twice. */
const leastShare = 0.125;
const memoryMs = 30_000;
/** The growth in a second, for each second since the last 429: 13 % after five of them, sevenfold after twenty. */
const growth = 0.01;
/** Requests a second beyond which there is no need of a pace. */
const fastest = 10_000;

export class Pace {
  #rate = Infinity;
  /** Requests a second in the period before this one; undefined where there was none. */
  #takenBefore: number | undefined;
  #taken = 0;
  #periodStartedAt = -Infinity;
  /** The most taken in a second, of late and in the time before. */
  readonly #best = { lately: 0, before: 0, since: -Infinity };
  #throttledAt = -Infinity;
  #grownAt = 0;

  /** Requests a second; Infinity while the receiver has not asked for less. */
  get rate(): number {
    return this.#rate;
  }

  /** Told of each answer. */
  heard(throttled: boolean, now: number): void {
    const elapsedMs = now - this.#periodStartedAt;
    if (elapsedMs >= periodMs) {
      this.#takenBefore = elapsedMs < 2 * periodMs ? (this.#taken * 1_000) / elapsedMs : undefined;
      this.#remember(this.#takenBefore ?? 0, now);
      this.#taken = 0;
      this.#periodStartedAt = now;
    }
    if (throttled) this.#slowDown(now);
    else {
      this.#taken += 1;
      if (this.#rate !== Infinity) this.#speedUp(now);
    }
  }

  #remember(taken: number, now: number): void {
    const best = this.#best;
    if (now - best.since >= memoryMs) {
      best.before = now - best.since < 2 * memoryMs ? best.lately : 0;
      best.lately = 0;
      best.since = now;
    }
    best.lately = Math.max(best.lately, taken);
  }

  #slowDown(now: number): void {
    // In its first second a receiver has not shown yet what it takes in one.
    if (now - this.#throttledAt < periodMs || this.#takenBefore === undefined) return;
    const taken = Math.max(this.#taken, this.#takenBefore);
    const least = Math.max(leastRate, this.#best.lately * leastShare, this.#best.before * leastShare);
    this.#throttledAt = now;
    this.#grownAt = now;
    const isAtLeast = this.#rate * backOff < least && least > leastRate;
    this.#rate = isAtLeast ? Infinity : Math.max(least, Math.min(this.#rate, taken) * backOff);
  }

  #speedUp(now: number): void {
    const sinceMs = now - this.#throttledAt;
    const grownMs = Math.min(now - this.#grownAt, periodMs);
    this.#grownAt = now;
    this.#rate *= 1 + growth * (sinceMs / 1_000) * (grownMs / 1_000);
    if (this.#rate > fastest) this.#rate = Infinity;
  }
}
