/** The delay before a batch is sent again. */

const firstMs = 100;
const longestMs = 10_000;
/** Limits how long a server can stop a client. */
const longestRetryAfterMs = 5 * 60_000;

/**
 * Doubles from 100 ms to 10 s, less a random share of up to a half, so that clients do not all retry at the same
 * time. Never shorter than the server requested.
 *
 * @param failures in a row, from 1
 * @param retryAfterMs the delay that the server requested, or 0
 */
export function backoffMs(
  failures: number,
  retryAfterMs: number,
  random: () => number = Math.random,
): number {
  const delay = doubled(failures, firstMs, longestMs);
  const jittered = delay * (1 - random() / 2);
  return retryAfterMs > 0 ? retryAfterMs + random() * Math.min(delay, retryAfterMs / 10) : jittered;
}

const firstAsideMs = 1_000;
const longestAsideMs = 60_000;

/** The delay before the next attempt for a call aside: doubles from a second to a minute, less up to a half. */
export function asideMs(attempts: number, random: () => number = Math.random): number {
  return doubled(attempts, firstAsideMs, longestAsideMs) * (1 - random() / 2);
}

const doubled = (attempts: number, first: number, longest: number): number =>
  Math.min(first * 2 ** Math.min(attempts - 1, 30), longest);

/** `Retry-After` (RFC 9110, section 10.2.3) in milliseconds, at most five minutes; 0 where absent or unreadable. */
export function parseRetryAfter(value: string | undefined, nowMs: number = Date.now()): number {
  if (value === undefined) return 0;
  const text = value.trim();
  const asked = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - nowMs;
  return Number.isNaN(asked) ? 0 : Math.min(Math.max(asked, 0), longestRetryAfterMs);
}
