/**
 * When the retry window of a delivery began. With its first attempt; and of one that was never attempted, when it
 * first waited because its receiver was down. That time counts only while the receiver stays down: a delivery dies
 * without an attempt only where its URLs were down for the whole of its window.
 */
import type { Delivery } from '@tailrace/topics';
import type { Breaker } from './lanes/breaker.ts';
import type { DeadReason } from './outcome.ts';

/** What this process knows of the open URLs of a delivery. While a probe is due or under way, they are what they were. */
export interface Receiver {
  /** Whether all of them are down. */
  readonly isDown: boolean;
  /** Since when, without a break, in milliseconds since the epoch; -Infinity where they were never down. */
  readonly since: number;
}

/** What has been down for a while may stay down ten times as long; where it does not, what waits is recalled. */
const downReach = 10;
/** What has been up for a while is trusted for as long again, and for no less than this. */
const leastUpMs = 10_000;

/** By the breakers of all open URLs; `epoch` is the time at which their clock shows 0. */
export function receiverOf(breakers: readonly Pick<Breaker, 'state' | 'since'>[], epoch: number): Receiver {
  const up = breakers.filter(({ state }) => state === 'closed');
  const isDown = breakers.length > 0 && up.length === 0;
  const sinces = (isDown ? breakers : up).map(({ since }) => since);
  const since = isDown ? Math.max(...sinces) : Math.min(...sinces);
  return { isDown, since: sinces.length > 0 ? Math.round(epoch + since) : -Infinity };
}

/** Undefined where the window begins with the next attempt. */
export function windowBegan(
  { attempt, firstAttemptAt }: Pick<Delivery, 'attempt' | 'firstAttemptAt'>,
  { isDown, since }: Receiver,
  now: number,
): number | undefined {
  if (attempt > 0) return firstAttemptAt;
  return isDown ? Math.max(firstAttemptAt ?? now, since) : undefined;
}

/** Why a delivery with a sequence dies whose window is over. */
export function overReason({ delivery }: { readonly delivery: Pick<Delivery, 'attempt'> }): DeadReason {
  return delivery.attempt === 0 ? 'circuit-open' : 'window-exceeded';
}

/**
 * Until when to wait behind another one, which should be back at `until`. At a receiver that is down, for longer, so
 * that it is not rewritten at each step of the other one. At one that was down until lately, the other one may be back
 * much earlier.
 */
export function behindUntil(
  until: number,
  { isDown, since }: Receiver,
  windowEndsAt: number,
  now: number,
): number {
  if (!isDown) return Math.min(until, now + Math.max(now - since, leastUpMs));
  return Math.min(Math.max(until, now + downReach * (now - since)), windowEndsAt);
}
