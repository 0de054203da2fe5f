/** One record of `deliveries.dead`, as it is looked at: by its headers, so that no body is read to find it. */
import type { ConsumedRecord } from '@tailrace/kafka';

/** Where it lies and what its headers say. Of what somebody else wrote to `deliveries`, any may be missing. */
export interface DeadLetterSummary {
  readonly partition: number;
  readonly offset: number;
  /** When it became a dead letter, in milliseconds since the epoch. */
  readonly diedAt: number;
  readonly reason: string | undefined;
  /** Whether it lies in `deliveries.replay`. When it dies again, that is another dead letter. */
  readonly replayed: boolean;
  readonly deliveryId: string | undefined;
  readonly eventId: string | undefined;
  readonly sourceId: string | undefined;
  readonly destinationId: string | undefined;
  readonly type: string | undefined;
  /** Attempts made. */
  readonly attempts: number;
}

/** Facts alone may be kept; a record is a slice of all that was fetched with it, and keeps that in memory. */
export interface DeadLetter {
  readonly summary: DeadLetterSummary;
  readonly record: ConsumedRecord;
}

export function readDeadLetter(record: ConsumedRecord, replayed: boolean): DeadLetter {
  const { partition, offset, timestamp } = record;
  const header = (name: string): string | undefined => record.headers[name]?.toString();
  const attempts = Number(header('attempt'));
  const summary = {
    partition,
    offset,
    diedAt: timestamp,
    reason: header('reason'),
    replayed,
    deliveryId: header('delivery-id'),
    eventId: header('event-id'),
    sourceId: header('source-id'),
    destinationId: header('destination-id'),
    type: header('type'),
    attempts: Number.isNaN(attempts) ? 0 : attempts,
  };
  return { summary, record };
}
