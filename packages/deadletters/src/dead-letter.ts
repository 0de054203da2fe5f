/** A record of `deliveries.dead`. Its headers suffice to select it; the body is not parsed. */
import type { ConsumedRecord } from '@tailrace/kafka';
import { userKeyOf, withExchanges, type UrlAttempt } from '@tailrace/records';

/** Position and headers. Malformed records of other producers may lack any header. */
export interface DeadLetterSummary {
  readonly partition: number;
  readonly offset: number;
  /** When it was written to `deliveries.dead`, in milliseconds since the epoch. */
  readonly diedAt: number;
  readonly reason: string | undefined;
  /** Whether it was published to `deliveries.replay`. If the delivery fails again, that is another dead letter. */
  readonly replayed: boolean;
  readonly deliveryId: string | undefined;
  readonly eventId: string | undefined;
  readonly sourceId: string | undefined;
  readonly destinationId: string | undefined;
  readonly type: string | undefined;
  /** The name of a track call's event. */
  readonly event: string | undefined;
  /** The userId, else the anonymousId. */
  readonly userKey: string | undefined;
  /** The number of attempts made. */
  readonly attempts: number;
}

/** Keep only the summary for long: a record is a slice of the whole fetch, and keeps it in memory. */
export interface DeadLetter {
  readonly summary: DeadLetterSummary;
  readonly record: ConsumedRecord;
}

/** The last answer of each URL; or the problem of a malformed record, as text. Undefined where no request was made. */
export function lastAnswersOf(record: ConsumedRecord): readonly UrlAttempt[] | string | undefined {
  const text = record.headers['last-answer']?.toString();
  if (text === undefined) return undefined;
  try {
    const answers: unknown = JSON.parse(text);
    return Array.isArray(answers) ? withExchanges(answers as UrlAttempt[], record) : text;
  } catch {
    return text;
  }
}

/** Whether the body was removed, because its user was deleted. */
export function hasNoBody({ reason }: Pick<DeadLetterSummary, 'reason'>): boolean {
  return reason === 'user-deleted';
}

export function readDeadLetter(record: ConsumedRecord, replayed: boolean): DeadLetter {
  const { partition, offset, timestamp } = record;
  const header = (name: string): string | undefined => record.headers[name]?.toString();
  const attempts = Number(header('attempt'));
  const destinationId = header('destination-id');
  const key = record.key?.toString();
  const summary = {
    partition,
    offset,
    diedAt: timestamp,
    reason: header('reason'),
    replayed,
    deliveryId: header('delivery-id'),
    eventId: header('event-id'),
    sourceId: header('source-id'),
    destinationId,
    type: header('type'),
    event: header('event-name'),
    userKey: key === undefined ? undefined : userKeyOf({ key, destinationId: destinationId ?? '' }),
    attempts: Number.isNaN(attempts) ? 0 : attempts,
  };
  return { summary, record };
}
