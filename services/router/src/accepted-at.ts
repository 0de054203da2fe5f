/**
 * When an event was accepted: when ingest took the call, or when a direct producer wrote the record. Ages are measured
 * from then, by other processes with clocks of their own, so a time is believed only as far as it can be true.
 */

/** Longer than Kafka keeps a record of `events`: seven days, and as many of its segment. */
const longestAgeMs = 14 * 86_400_000;
/** Longer than ingest may take to write a call that it has received. */
const longestWriteMs = 60_000;

/**
 * `receivedAt` is what the event says, and `writtenAt` the time of its record. A direct producer may state any: of events
 * that it sends again, for example, when they happened.
 */
export function acceptedAt(receivedAt: number, writtenAt: number, now: number): number {
  const written = writtenAt <= now && writtenAt > now - longestAgeMs ? writtenAt : now;
  return receivedAt <= written && receivedAt > written - longestWriteMs ? receivedAt : written;
}
