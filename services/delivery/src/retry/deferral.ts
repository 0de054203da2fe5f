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

/**
 * Returns until when a delivery is deferred whose lane is full, in milliseconds since the epoch.
 *
 * A promised turn that is not free when its time comes shows that the lane is slower than estimated. Each further wait
 * is therefore at least 80 % of the next longer retry topic's delay, and from the fourth deferral on one retry topic is
 * skipped. So a record is rewritten only a handful of times: with the default schedule it waits 16 minutes the fourth
 * time, and 48 the fifth.
 *
 * @param placeAt when the lane has promised a turn, in milliseconds since the epoch
 * @param timesBefore how often the delivery was deferred before
 */
export function deferUntil(
  placeAt: number,
  timesBefore: number,
  now: number,
  tiersMs: readonly number[],
): number {
  const [shortestMs = 0] = tiersMs;
  const longer = timesBefore < 3 ? Math.max(0, timesBefore - 1) : timesBefore;
  const leastMs = tiersMs[Math.min(longer, tiersMs.length - 1)] ?? shortestMs;
  return Math.max(placeAt, now + leastMs * leastShare);
}
