/**
 * When the retry window of a delivery begins: with its first attempt, or, for a delivery that was never attempted, when
 * it first waited because its receiver was down. That time counts only while the receiver stays down. So a delivery dies
 * without an attempt only where its URLs were down for the whole window.
 */
import type { Delivery } from '@tailrace/topics';
import type { Breaker } from '../isolation/breaker.ts';
import type { DeadReason } from '../outcome.ts';

/** The state of the open URLs of a delivery, as known to this process. A probe that is due or in flight changes nothing. */
export interface Receiver {
  /** Whether all URLs are down. */
  readonly isDown: boolean;
  /** Since when, without interruption, in milliseconds since the epoch; -Infinity where no URL was ever down. */
  readonly since: number;
}

/** A later delivery of a user waits ten times as long as the receiver has been down; a recovery recalls it earlier. */
const downReach = 10;
/** A receiver that has been up for some time is expected to stay up as long again, and at least for this. */
const leastUpMs = 10_000;

/**
 * Summarises the circuit breakers of all open URLs.
 *
 * @param epoch the wall-clock time at which the breakers' clock shows 0
 */
export function receiverOf(breakers: readonly Pick<Breaker, 'state' | 'since'>[], epoch: number): Receiver {
  const up = breakers.filter(({ state }) => state === 'closed');
  const isDown = breakers.length > 0 && up.length === 0;
  const sinces = (isDown ? breakers : up).map(({ since }) => since);
  const since = isDown ? Math.max(...sinces) : Math.min(...sinces);
  return { isDown, since: sinces.length > 0 ? Math.round(epoch + since) : -Infinity };
}

/** Returns undefined where the window begins with the next attempt. */
export function windowBegan(
  { attempt, firstAttemptAt }: Pick<Delivery, 'attempt' | 'firstAttemptAt'>,
  { isDown, since }: Receiver,
  now: number,
): number | undefined {
  if (attempt > 0) return firstAttemptAt;
  return isDown ? Math.max(firstAttemptAt ?? now, since) : undefined;
}

/** Returns the dead-letter reason of a delivery whose window has ended. */
export function windowEndedReason({
  delivery,
}: {
  readonly delivery: Pick<Delivery, 'attempt'>;
}): DeadReason {
  return delivery.attempt === 0 ? 'circuit-open' : 'window-exceeded';
}

/**
 * Returns until when a delivery waits behind an earlier one that is expected at `until`. Where the receiver is down it
 * waits longer, so that it is not rewritten at each step of the earlier one. Where the receiver was down until recently,
 * it waits less, because the earlier one may be recalled.
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
