/**
 * When an event was accepted: when ingest received the call, or when a direct producer wrote the record. Other processes, with
 * clocks of their own, measure the age of events from this time, so implausible times are replaced.
 */

/** Longer than Kafka keeps a record of `events`: seven days, and up to seven more for its segment. */
const maxAgeMs = 14 * 86_400_000;
/** Longer than ingest takes to write a call that it received. */
const maxWriteMs = 60_000;

/**
 * @param receivedAt the time in the event; a direct producer may set any, such as the time of a historical event
 * @param writtenAt the time of the record
 */
export function acceptedAt(receivedAt: number, writtenAt: number, now: number): number {
  const written = writtenAt <= now && writtenAt > now - maxAgeMs ? writtenAt : now;
  return receivedAt <= written && receivedAt > written - maxWriteMs ? receivedAt : written;
}
