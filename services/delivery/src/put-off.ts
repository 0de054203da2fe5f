/**
 * Where a delivery waits for something else than the next step of its schedule: for a place in its lane, or for an
 * earlier one of its user.
 *
 * Tiers are queues, read in order, with due times that only grow. The shortest tier whose delay is long enough takes
 * a wait whole, with the very time that is wanted, so that it costs one rewrite. Only where others in that tier are
 * due much later, and would be in front of it, is a part of the way waited in a shorter one instead.
 */

/** How much longer a wait may become, as a part of it, rather than to be made of two. */
const slack = 0.25;
/** The least wait, as a part of a tier's delay. */
const leastShare = 0.8;

export interface Wait {
  readonly tierMs: number;
  /** Milliseconds since the epoch. */
  readonly earliestDueAt: number;
}

/**
 * The tier to wait in until `until`, or for a part of the way.
 *
 * @param until milliseconds since the epoch, like `now`
 * @param tiersMs the tiers' delays, shortest first; not empty
 * @param lastDueAt when the last that was put into a tier is due there
 */
export function tierUntil(
  until: number,
  now: number,
  tiersMs: readonly number[],
  lastDueAt: (tierMs: number) => number,
): Wait {
  const [shortestMs = 0] = tiersMs;
  // What should be possible already is late, and is not looked for again at once.
  const waitMs = until > now ? until - now : shortestMs * leastShare;
  const whole = tiersMs.find((tierMs) => tierMs >= waitMs);
  const part = tiersMs.findLast((tierMs) => tierMs <= waitMs);
  const isPrompt = whole !== undefined && lastDueAt(whole) <= now + waitMs * (1 + slack);
  const tierMs = (isPrompt ? whole : part) ?? shortestMs;
  return { tierMs, earliestDueAt: Math.ceil(now + Math.min(waitMs, tierMs)) };
}

/**
 * Until when a delivery is put off for which its lane has no room. A place that was promised and is not free when
 * its time comes shows that the lane is slower than it seemed. Each wait then is at least most of
 * a longer tier, and from the fourth on one is left out, so that a record is rewritten a handful of times whatever
 * happens: with the default schedule it waits 16 minutes the fourth time, and 48 the fifth.
 *
 * @param placeAt when a place was promised, in milliseconds since the epoch
 * @param timesBefore how often it was put off already
 */
export function putOffUntil(
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
