/**
 * The turns that a lane has promised to deferred deliveries. They are used up at the rate of the lane, and new deliveries
 * wait behind them.
 */

/** A promise reaches no further ahead than this many times the time for which the lane has been deferring. */
const promiseReach = 10;

/** Times are milliseconds of a monotonic clock. */
export class PromisedTurns {
  #count = 0;
  #countedAt = 0;
  /** Since when there have been promised turns without interruption. */
  #since = 0;

  /**
   * Whether deliveries that came earlier are still deferred, so that a new one belongs behind them.
   *
   * @param taskMs how long the lane takes for one task
   * @param backoffUntil until when nothing is sent
   */
  areOpen(now: number, taskMs: number, backoffUntil: number): boolean {
    const idleUntil = Math.min(now, Math.max(this.#countedAt, backoffUntil));
    const workedMs = now - idleUntil;
    // Of a lane whose tasks have taken no measurable time, the quotient of two zeros is no number.
    if (workedMs > 0) this.#count = Math.max(0, this.#count - workedMs / taskMs);
    this.#countedAt = now;
    return this.#count > 0;
  }

  /** Promises the turn behind all others and `waiting` tasks. Returns in how many milliseconds of sending it comes. */
  add(now: number, waiting: number, taskMs: number, backoffUntil: number): number {
    if (!this.areOpen(now, taskMs, backoffUntil)) this.#since = now;
    this.#count += 1;
    const waitMs = (waiting + this.#count) * taskMs;
    // The rate was measured over the time since then, and cannot predict a much longer time.
    return Math.min(waitMs, promiseReach * (now - this.#since));
  }
}
