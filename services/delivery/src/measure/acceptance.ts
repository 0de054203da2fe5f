/**
 * When the event of a delivery was accepted. The header `accepted-at` says so; a replay has none, nor has what a release
 * before it wrote: then the age counts from when the record was written, or from the first attempt, if that was earlier.
 */
import type { Delivery } from '@tailrace/topics';

/** Longer than `events` and `deliveries` together keep a record. What is older was written by a wrong clock. */
const longestAgeMs = 30 * 86_400_000;

/** `delivery` with a time of acceptance that can be true; `writtenAt` is the record's timestamp. */
export function withAcceptance(delivery: Delivery, writtenAt: number, now: number): Delivery {
  const isPossible = (time: number): boolean => time <= now && time > now - longestAgeMs;
  const { acceptedAt, firstAttemptAt = writtenAt } = delivery;
  if (acceptedAt !== undefined && isPossible(acceptedAt)) return delivery;
  return { ...delivery, acceptedAt: [Math.min(writtenAt, firstAttemptAt), writtenAt, now].find(isPossible) };
}
