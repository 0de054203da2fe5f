/** Writes records that cannot be used to `events.rejected`, as they were received, with the reason in headers. */
import { isTailraceError, type ErrorCode } from '@tailrace/errors';
import type {
  ConsumedRecord,
  OutgoingRecord,
  Publisher,
  TrackedRecord,
  UnreadableBatch,
  Work,
} from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import type { RouterMetrics } from './metrics.ts';

export interface Rejection {
  readonly code: Extract<
    ErrorCode,
    | 'malformed-json'
    | 'unsupported-encoding'
    | 'unknown-schema'
    | 'schema-mismatch'
    | 'call-too-large'
    | 'invalid-call'
    | 'unknown-source'
    | 'unknown-write-key'
    | 'record-too-large'
    | 'unreadable-batch'
  >;
  /** Sentences that say what is wrong and how to fix it. They quote no content. */
  readonly message: string;
}

/** Both calls finish the work once Kafka has acknowledged the rejection. */
export interface Rejecter {
  reject(record: TrackedRecord, rejection: Rejection): void;
  /** Writes one record for a batch of `events` that cannot be decoded. */
  rejectBatch(batch: UnreadableBatch, work: Work): void;
}

export function createRejecter({
  topic: rejectedTopic,
  publisher,
  metrics,
  log,
}: {
  readonly topic: string;
  readonly publisher: Pick<Publisher, 'publish'>;
  readonly metrics: Pick<RouterMetrics, 'rejected'>;
  readonly log: Pick<Log, 'warn' | 'debug'>;
}): Rejecter {
  const publish = async (
    record: OutgoingRecord,
    code: Rejection['code'],
    work: Pick<Work, 'done'>,
  ): Promise<void> => {
    await publisher.publish(record);
    metrics.rejected.inc({ code });
    work.done();
  };

  return {
    reject(record, rejection) {
      const { topic, partition, offset } = record;
      const { code, message } = rejection;
      log.debug({ topic, partition, offset, code }, message);
      publish(rejectedRecord(rejectedTopic, record, rejection), code, record)
        .catch((failure: unknown) => {
          if (!isTailraceError(failure, 'record-too-large')) throw failure;
          log.warn({ topic, partition, offset }, 'rejected record too large for Kafka, content left out');
          return publish(rejectedWithoutContent(rejectedTopic, record, rejection), code, record);
        })
        .catch(leaveUnfinished);
    },
    rejectBatch(batch, work) {
      publish(rejectedBatch(rejectedTopic, batch), 'unreadable-batch', work).catch(leaveUnfinished);
    },
  };
}

/** During shutdown the record stays unfinished, and the next owner of the partition reads it. Other failures are defects. */
export function leaveUnfinished(failure: unknown): void {
  if (!isTailraceError(failure, 'shutting-down')) throw failure;
}

/**
 * Key, value and headers are those of the record, byte for byte. The headers with reason and origin come last, so where the
 * producer used one of their names, the last header of that name is ours.
 */
function rejectedRecord(topic: string, record: ConsumedRecord, rejection: Rejection): OutgoingRecord {
  const { key, value, headerList } = record;
  return { topic, key, value, headers: [...headerList, ...reasonHeaders(record, rejection)] };
}

/** For a record that is too large for Kafka once the headers are added. */
function rejectedWithoutContent(topic: string, record: ConsumedRecord, rejection: Rejection): OutgoingRecord {
  const message = `${rejection.message} Key and value are left out here, because the record is too large for Kafka; they are still at its origin.`;
  return { topic, key: null, value: null, headers: reasonHeaders(record, { ...rejection, message }) };
}

function rejectedBatch(topic: string, batch: UnreadableBatch): OutgoingRecord {
  const { firstOffset, lastOffset, detail } = batch;
  const range =
    firstOffset === lastOffset ? `Record ${firstOffset}` : `Records ${firstOffset} to ${lastOffset}`;
  const message = `${range} of the partition cannot be read and are skipped. ${detail}`;
  const origin = { ...batch, offset: firstOffset };
  const headers = reasonHeaders(origin, { code: 'unreadable-batch', message });
  return { topic, key: null, value: null, headers: [...headers, ['origin-last-offset', String(lastOffset)]] };
}

function reasonHeaders(
  { topic, partition, offset }: Pick<ConsumedRecord, 'topic' | 'partition' | 'offset'>,
  { code, message }: Rejection,
): [string, string][] {
  return [
    ['error-code', code],
    ['error-message', message],
    ['origin-topic', topic],
    ['origin-partition', String(partition)],
    ['origin-offset', String(offset)],
  ];
}
