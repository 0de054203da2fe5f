/**
 * Chooses the retry topic, and the time, for a wait that is not a step of the retry schedule: a deferral, a parked
 * delivery, or a delivery behind an earlier one of its user.
 *
 * The shortest retry topic whose delay is long enough takes the whole wait with the exact due time, which costs one
 * rewrite. Where its last records are due much later, the new record would wait behind them; then a shorter retry topic
 * takes a part of the wait.
 */

/** How much longer a single wait may become before it is split in two, as a part of the wait. */
const slack = 0.25;
/** The shortest wait, as a part of a retry topic's delay. */
const leastShare = 0.8;

export interface Wait {
  readonly tierMs: number;
  /** Milliseconds since the epoch. */
  readonly earliestDueAt: number;
}

/**
 * Returns the retry topic for a wait until `until`, or for the first part of it.
 *
 * @param until milliseconds since the epoch, like `now`
 * @param tiersMs the delays of the retry topics, shortest first; not empty
 * @param lastDueAt when the last record that was written to a retry topic is due
 */
export function tierUntil(
  until: number,
  now: number,
  tiersMs: readonly number[],
  lastDueAt: (tierMs: number) => number,
): Wait {
  const [shortestMs = 0] = tiersMs;
  // A time that has passed already was too optimistic; wait before trying again.
  const waitMs = until > now ? until - now : shortestMs * leastShare;
  const whole = tiersMs.find((tierMs) => tierMs >= waitMs);
  const part = tiersMs.findLast((tierMs) => tierMs <= waitMs);
  const isPrompt = whole !== undefined && lastDueAt(whole) <= now + waitMs * (1 + slack);
  const tierMs = (isPrompt ? whole : part) ?? shortestMs;
  return { tierMs, earliestDueAt: Math.ceil(now + Math.min(waitMs, tierMs)) };
}
