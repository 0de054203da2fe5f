/**
 * Where a delivery waits that its lane has no room for. Tiers are queues with fixed delays, so a wait is made of
 * the longest tier that is not longer, again and again: half an hour is twenty minutes, then five, and so on.
 *
 * A place that was promised and is not free when its time comes shows that the lane is slower than it was
 * measured to be; each time the tier is longer, so that a record is rewritten a handful of times whatever
 * happens.
 */

/** The part of a tier's delay that is always waited; the rest keeps what was put off together apart. */
export const earliestShare = 0.8;

/**
 * @param waitMs until the place that was promised
 * @param timesBefore how often it was put off already
 * @param tiersMs the tiers' delays, shortest first; not empty
 */
export function tierForWait(waitMs: number, timesBefore: number, tiersMs: readonly number[]): number {
  const shortest = tiersMs[0] ?? 0;
  const byWait = tiersMs.findLast((tierMs) => tierMs <= waitMs) ?? shortest;
  const byTimes = tiersMs[Math.min(timesBefore - 1, tiersMs.length - 1)] ?? shortest;
  // The first times it is only the promise that counts.
  return timesBefore < 2 ? byWait : Math.max(byWait, byTimes);
}

/**
 * Where a delivery waits that goes behind another one, which should be back at `until`: a tier whose delays come
 * close to that, and the earliest due time there. Where it is further away than any tier, this is a part of the way.
 *
 * @param until milliseconds since the epoch, like `now`
 */
export function tierBehind(
  until: number,
  now: number,
  tiersMs: readonly number[],
): { readonly tierMs: number; readonly earliestDueAt: number } {
  const [shortestMs = 0] = tiersMs;
  // What should be back already is late, and is not looked for again at once.
  const waitMs = until > now ? until + 1 - now : shortestMs * earliestShare;
  const tierMs = tierForWait(waitMs / earliestShare, 0, tiersMs);
  return { tierMs, earliestDueAt: now + (waitMs > tierMs ? tierMs * earliestShare : waitMs) };
}
