/**
 * Decides the outcome of a delivery after an attempt, without I/O.
 *
 * The schedule sets the delay before the next attempt. A delay may be shortened by up to a fifth, so that deliveries that
 * failed together are not retried together. No attempt is made after the retry window, which begins with the first one.
 */
import type { DeadReason, Outcome, UrlAnswer } from './outcome.ts';

export interface RetryPolicy {
  /** Delays after the first, second, … failed attempt; as many retries as entries. */
  readonly scheduleMs: readonly number[];
  readonly windowMs: number;
}

/** The part of a delay that is never shortened. */
const leastShare = 0.8;

/**
 * @param state `step` counts the steps of the schedule, including the attempt that was just made; `firstAttemptAt` is when
 *   the first attempt was made, or the delivery was first parked.
 * @param answers for every URL that was still open; never empty.
 */
export function decide(
  state: { readonly step: number; readonly firstAttemptAt: number },
  answers: readonly UrlAnswer[],
  policy: RetryPolicy,
  now: number,
): Outcome {
  if (answers.some(({ kind }) => kind === 'success')) return { kind: 'delivered' };

  const retryable = answers.filter((answer) => answer.kind === 'retryable');
  // The reason of a request that was sent is more useful than `circuit-open`.
  const firstRetryable = retryable.find(({ reason }) => reason !== 'circuit-open') ?? retryable[0];
  if (!firstRetryable) {
    const permanent = answers.find((answer) => answer.kind === 'permanent');
    return dead(permanent?.reason ?? 'no-open-url');
  }

  const scheduledMs = policy.scheduleMs[state.step - 1];
  if (scheduledMs === undefined) return dead('attempts-exhausted');

  const windowEndsAt = state.firstAttemptAt + policy.windowMs;
  const tiersMs = policy.scheduleMs.filter(
    (tierMs) => tierMs >= scheduledMs && Math.ceil(now + tierMs * leastShare) <= windowEndsAt,
  );
  if (tiersMs.length === 0) return dead('window-exceeded');

  const retryAfterMs = Math.max(0, ...retryable.map(({ retryAfterMs = 0 }) => retryAfterMs));
  const tierMs = chooseTier(retryAfterMs, tiersMs);
  const leastMs = Math.max(tierMs * leastShare, Math.min(retryAfterMs, tierMs));
  const latestDueAt = Math.min(now + tierMs, windowEndsAt);
  return {
    kind: 'retry',
    reason: firstRetryable.reason,
    tierMs,
    earliestDueAt: Math.min(Math.ceil(now + leastMs), latestDueAt),
    latestDueAt,
  };
}

function dead(reason: DeadReason): Outcome {
  return { kind: 'dead', reason };
}

/**
 * Returns the shortest delay that is at least `Retry-After`, or the longest one. So no receiver can delay a delivery by
 * more than the longest delay of the schedule, or out of its window.
 */
function chooseTier(retryAfterMs: number, tiersMs: readonly number[]): number {
  const longEnough = tiersMs.filter((tierMs) => tierMs >= retryAfterMs);
  return longEnough.length > 0 ? Math.min(...longEnough) : Math.max(...tiersMs);
}
