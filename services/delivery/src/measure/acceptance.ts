/**
 * When the event of a delivery was accepted: the time in the header `accepted-at`. Replays and records of earlier releases
 * have no such header. Their age counts from when the record was written, or from the first attempt if that was earlier.
 */
import type { Delivery } from '@tailrace/topics';

/** Longer than `events` and `deliveries` together keep a record. An older time comes from a wrong clock. */
const longestAgeMs = 30 * 86_400_000;

/** Returns `delivery` with a possible time of acceptance. `writtenAt` is the record's timestamp. */
export function withAcceptance(delivery: Delivery, writtenAt: number, now: number): Delivery {
  const isPossible = (time: number): boolean => time <= now && time > now - longestAgeMs;
  const { acceptedAt, firstAttemptAt = writtenAt } = delivery;
  if (acceptedAt !== undefined && isPossible(acceptedAt)) return delivery;
  return { ...delivery, acceptedAt: [Math.min(writtenAt, firstAttemptAt), writtenAt, now].find(isPossible) };
}
