/** The record of `deliveries.replay` that sends a delivery again. */
import type { ConsumedRecord, ExclusiveRecord } from '@tailrace/kafka';
import {
  eventAcceptedAtHeader,
  formatPosition,
  progressHeaders,
  replayedByHeader,
  replayedFromHeader,
  transformFailedHeader,
  unmadeStep,
} from '@tailrace/records';

/**
 * Keeps key, body and all headers, including those of newer versions, except the progress of earlier attempts.
 *
 * @param record of the delivery, in any topic; the partition is the same in all of them
 * @param isDeadLetter whether the record is a dead letter, which is then counted as replayed
 * @param by the name of the token or the user who has asked for it, where it is known
 */
export function replayRecord(
  record: ConsumedRecord,
  topic: string,
  isDeadLetter: boolean,
  by: string | undefined,
): ExclusiveRecord {
  const { partition, key, value, headerList } = record;
  const kept = headerList.filter(([name]) => !progressHeaders.has(name));
  const origin = isDeadLetter ? ([[replayedFromHeader, formatPosition(record)]] as const) : [];
  const step =
    record.headers[transformFailedHeader] === undefined ? [] : ([['step', unmadeStep(0)]] as const);
  const asker = by === undefined ? [] : ([[replayedByHeader, by]] as const);
  return {
    topic,
    partition,
    key,
    value,
    headers: [...kept, ...eventAcceptedAt(record), ['attempt', '0'], ...step, ...origin, ...asker],
  };
}

/** The age of a replay begins with the replay. Deleted users are judged by the time of the event, which is kept apart. */
function eventAcceptedAt({ headers, timestamp }: ConsumedRecord): (readonly [string, string])[] {
  if (headers[eventAcceptedAtHeader] !== undefined) return [];
  const times = ['accepted-at', 'first-attempt-at'].map((name) => Date.parse(String(headers[name])));
  const earliest = Math.min(timestamp, ...times.filter((time) => !Number.isNaN(time)));
  return [[eventAcceptedAtHeader, new Date(earliest).toISOString()]];
}
