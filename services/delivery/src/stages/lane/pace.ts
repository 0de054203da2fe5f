/**
 * The pace that a receiver asks for by answering 429. Fewer requests in flight do not help against a receiver that counts
 * requests a second: the faster it rejects them, the faster the next ones follow. So the pace drops to somewhat less than
 * the receiver accepted lately, and then rises, slowly at first and faster the longer no 429 has come (congestion control:
 * RFC 9438). A pace that stays at the limit costs one or two 429s in some hundred requests, each of them a step of a
 * delivery's schedule.
 *
 * Some receivers answer 429 to certain requests at any pace. So where the pace is down to an eighth of the best second of
 * the last minute and 429s continue, the pace is dropped and starts again.
 *
 * Times are milliseconds of a monotonic clock.
 */

/** The period in which accepted requests are counted. Only its first 429 counts: the others were already in flight. */
const periodMs = 1_000;
const backOff = 0.8;
/** Requests a second, so that a receiver that rejects everything still gets requests. */
const leastRate = 1;
/** The pace does not fall below this part of the best second, which is remembered for one or two such periods. */
const leastShare = 0.125;
const memoryMs = 30_000;
/** The growth in a second, for each second since the last 429: 13 % after five of them, sevenfold after twenty. */
const growth = 0.01;
/** Requests a second beyond which no pace is needed. */
const fastest = 10_000;

export class Pace {
  #rate = Infinity;
  /** Requests a second in the period before this one; undefined where there was none. */
  #acceptedBefore: number | undefined;
  #accepted = 0;
  #periodStartedAt = -Infinity;
  /** The most requests accepted in a second, in this memory period and the one before. */
  readonly #best = { current: 0, before: 0, since: -Infinity };
  #throttledAt = -Infinity;
  #grownAt = 0;

  /** Requests a second; Infinity where the receiver has not asked for less. */
  get rate(): number {
    return this.#rate;
  }

  /** Counts an answer. */
  answered(throttled: boolean, now: number): void {
    const elapsedMs = now - this.#periodStartedAt;
    if (elapsedMs >= periodMs) {
      this.#acceptedBefore = elapsedMs < 2 * periodMs ? (this.#accepted * 1_000) / elapsedMs : undefined;
      this.#remember(this.#acceptedBefore ?? 0, now);
      this.#accepted = 0;
      this.#periodStartedAt = now;
    }
    if (throttled) this.#slowDown(now);
    else {
      this.#accepted += 1;
      if (this.#rate !== Infinity) this.#speedUp(now);
    }
  }

  #remember(accepted: number, now: number): void {
    const best = this.#best;
    if (now - best.since >= memoryMs) {
      best.before = now - best.since < 2 * memoryMs ? best.current : 0;
      best.current = 0;
      best.since = now;
    }
    best.current = Math.max(best.current, accepted);
  }

  #slowDown(now: number): void {
    // Before the first full second the accepted rate is unknown.
    if (now - this.#throttledAt < periodMs || this.#acceptedBefore === undefined) return;
    const accepted = Math.max(this.#accepted, this.#acceptedBefore);
    const least = Math.max(leastRate, this.#best.current * leastShare, this.#best.before * leastShare);
    this.#throttledAt = now;
    this.#grownAt = now;
    const isAtLeast = this.#rate * backOff < least && least > leastRate;
    this.#rate = isAtLeast ? Infinity : Math.max(least, Math.min(this.#rate, accepted) * backOff);
  }

  #speedUp(now: number): void {
    const sinceMs = now - this.#throttledAt;
    const grownMs = Math.min(now - this.#grownAt, periodMs);
    this.#grownAt = now;
    this.#rate *= 1 + growth * (sinceMs / 1_000) * (grownMs / 1_000);
    if (this.#rate > fastest) this.#rate = Infinity;
  }
}
