/**
 * Decides, purely, what becomes of a delivery after an attempt.
 *
 * The schedule says after which delay the next attempt is due; a delay may be shortened by up to a fifth, so
 * that what failed together does not come back together. Whatever the schedule says, no attempt is made after
 * the retry window, which begins with the first attempt.
 */
import type { DeadReason, Outcome, UrlAnswer } from './outcome.ts';

export interface RetryPolicy {
  /** Delay after the first, second, … failed attempt; as many retries as entries. */
  readonly scheduleMs: readonly number[];
  readonly windowMs: number;
}

/** The part of a delay that is always waited. */
const leastShare = 0.8;

/**
 * @param state `step` counts the steps of the schedule, the one just made included; `firstAttemptAt` is when the
 *   first was made, or the delivery first parked.
 * @param answers of every URL that was still open; never empty.
 */
export function decide(
  state: { readonly step: number; readonly firstAttemptAt: number },
  answers: readonly UrlAnswer[],
  policy: RetryPolicy,
  now: number,
): Outcome {
  if (answers.some(({ kind }) => kind === 'success')) return { kind: 'delivered' };

  const retryable = answers.filter((answer) => answer.kind === 'retryable');
  // An answer says more than that nothing was asked.
  const firstRetryable = retryable.find(({ reason }) => reason !== 'circuit-open') ?? retryable[0];
  if (!firstRetryable) {
    const permanent = answers.find((answer) => answer.kind === 'permanent');
    return { kind: 'dead', reason: permanent?.reason ?? 'no-open-url' };
  }

  const givenUp = (reason: DeadReason): Outcome => ({ kind: 'dead', reason });

  const scheduledMs = policy.scheduleMs[state.step - 1];
  if (scheduledMs === undefined) return givenUp('attempts-exhausted');

  const windowEndsAt = state.firstAttemptAt + policy.windowMs;
  const tiersMs = policy.scheduleMs.filter(
    (tierMs) => tierMs >= scheduledMs && Math.ceil(now + tierMs * leastShare) <= windowEndsAt,
  );
  if (tiersMs.length === 0) return givenUp('window-exceeded');

  const askedMs = Math.max(0, ...retryable.map(({ retryAfterMs = 0 }) => retryAfterMs));
  const tierMs = chooseTier(askedMs, tiersMs);
  const leastMs = Math.max(tierMs * leastShare, Math.min(askedMs, tierMs));
  const latestDueAt = Math.min(now + tierMs, windowEndsAt);
  return {
    kind: 'retry',
    reason: firstRetryable.reason,
    tierMs,
    earliestDueAt: Math.min(Math.ceil(now + leastMs), latestDueAt),
    latestDueAt,
  };
}

/**
 * The shortest tier at least as long as the receiver asked for, or the longest there is: no receiver can put a
 * delivery off beyond the schedule's longest delay, nor out of its window.
 */
function chooseTier(askedMs: number, tiersMs: readonly number[]): number {
  const longEnough = tiersMs.filter((tierMs) => tierMs >= askedMs);
  return longEnough.length > 0 ? Math.min(...longEnough) : Math.max(...tiersMs);
}
