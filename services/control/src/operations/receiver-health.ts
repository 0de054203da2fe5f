/**
 * Whether the receiver of a destination fails or has recovered, by its attempts. Pure.
 *
 * Failing: attempts fail, at least three in a row, without a success for at least `afterMs`. Recovered: three attempts in a row
 * succeed, or one succeeds and none fails for `afterMs`. A receiver that fails some attempts and accepts others does neither, so
 * a flapping one is not reported again and again.
 */
import type { AttemptRecord } from '@tailrace/records';

/** The latest attempts in a row with the same result. Times are milliseconds since the epoch. */
export interface Streak {
  readonly succeeds: boolean;
  readonly attempts: number;
  readonly since: number;
  readonly until: number;
  /** Of the latest failure. */
  readonly reason?: string | undefined;
}

const attemptsInARow = 3;

/** The streak after another attempt. */
export function withAttempt(
  streak: Streak | undefined,
  { outcome, reason }: Pick<AttemptRecord, 'outcome' | 'reason'>,
  at: number,
): Streak {
  const succeeds = outcome === 'delivered';
  const continues = streak?.succeeds === succeeds;
  return {
    succeeds,
    attempts: continues ? streak.attempts + 1 : 1,
    since: continues ? Math.min(streak.since, at) : at,
    until: continues ? Math.max(streak.until, at) : at,
    reason,
  };
}

export function isFailing({ succeeds, attempts, since, until }: Streak, afterMs: number): boolean {
  return !succeeds && attempts >= attemptsInARow && until - since >= afterMs;
}

export function hasRecovered({ succeeds, attempts, since }: Streak, afterMs: number, now: number): boolean {
  return succeeds && (attempts >= attemptsInARow || now - since >= afterMs);
}
