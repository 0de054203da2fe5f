/**
 * For how long reading may be paused for the sake of a lane, before the lane counts as one that does not keep up. Bursts
 * and backlogs are worth waiting for, and so is a receiver that pauses for a moment; one that makes the others wait again
 * and again is not.
 *
 * A lane begins with little credit, earns more with each quick answer, loses what is waited for it, and regains a tenth of
 * the time that passes.
 */

const first = 1_500;
const most = 10_000;
const earned = 10;
const regained = 0.1;
/** Once it is used up, so much has to be regained first. */
const trusted = 1_000;
/** Of one that says nothing at all, it is used up faster. */
const silentCost = 5;

/** Times are milliseconds. */
export class Credit {
  #most = first;
  #left = first;
  #countedAt: number;
  #spent = false;

  constructor(now: number) {
    this.#countedAt = now;
  }

  earn(): void {
    if (this.#most >= most) return;
    this.#most += earned;
    this.#left += earned;
  }

  /** Reading was paused for `pausedMs`, and this lane holds much of what waits. */
  charge(pausedMs: number, isSilent: boolean, now: number): void {
    this.#count(now);
    this.#left -= pausedMs * (isSilent ? silentCost : 1);
    if (this.#left <= 0) {
      this.#left = 0;
      this.#spent = true;
    }
  }

  isLeft(now: number): boolean {
    this.#count(now);
    return !this.#spent;
  }

  #count(now: number): void {
    this.#left = Math.min(this.#most, this.#left + (now - this.#countedAt) * regained);
    this.#countedAt = now;
    if (this.#left >= trusted) this.#spent = false;
  }
}
