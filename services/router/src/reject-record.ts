/** Writes records that cannot be used to `events.rejected`, as they were received, with the reason in headers. */
import { isTailraceError } from '@tailrace/errors';
import type {
  ConsumedRecord,
  OutgoingRecord,
  Publisher,
  TrackedRecord,
  UnreadableBatch,
  Work,
} from '@tailrace/kafka';
import type { RejectionCode } from '@tailrace/metrics';
import type { Rejection } from '@tailrace/routing';
import type { Log } from '@tailrace/service';
import { readTraceparent, traceFields, type Span, type Tracing } from '@tailrace/tracing';
import type { RouterMetrics } from './metrics.ts';
import { endRejected, recordTraceparent, startRouteSpan } from './route-span.ts';

export type Rejecter = ReturnType<typeof createRejecter>;

/** Each method finishes the work, and the span, once Kafka has acknowledged the rejection. */
export function createRejecter({
  topic: rejectedTopic,
  publisher,
  metrics,
  log,
  tracing,
}: {
  readonly topic: string;
  readonly publisher: Pick<Publisher, 'publish'>;
  readonly metrics: Pick<RouterMetrics, 'rejected'>;
  readonly log: Pick<Log, 'warn' | 'debug'>;
  /** Undefined where tracing is off. */
  readonly tracing?: Tracing | undefined;
}) {
  const publish = async (
    record: OutgoingRecord,
    counted: RejectionCode | undefined,
    work: Pick<Work, 'done'>,
  ): Promise<void> => {
    await publisher.publish(record);
    if (counted !== undefined) metrics.rejected.inc({ code: counted });
    work.done();
  };

  const write = (
    record: TrackedRecord,
    rejection: Rejection,
    counted: RejectionCode | undefined,
    span = tracing && startRouteSpan(tracing, record),
  ): void => {
    const { topic, partition, offset } = record;
    const { code, message } = rejection;
    const trace = traceFields(span ?? readTraceparent(recordTraceparent(record)));
    log.debug({ topic, partition, offset, code, ...trace }, message);
    publish(rejectedRecord(rejectedTopic, record, rejection), counted, record)
      .catch((failure: unknown) => {
        if (!isTailraceError(failure, 'record-too-large')) throw failure;
        log.warn(
          { topic, partition, offset, ...trace },
          'rejected record too large for Kafka, content left out',
        );
        return publish(rejectedWithoutContent(rejectedTopic, record, rejection), counted, record);
      })
      .then(() => {
        if (span) endRejected(span, code);
      })
      .catch(leaveUnfinished);
  };

  return {
    reject(record: TrackedRecord, rejection: Rejection, span?: Span): void {
      write(record, rejection, rejection.code, span);
    },
    /** For an event that counts as routed, and was not delivered to every destination. */
    rejectRouted(record: TrackedRecord, rejection: Rejection, span?: Span): void {
      write(record, rejection, undefined, span);
    },
    /** Writes one record for a batch of `events` that cannot be decoded. */
    rejectBatch(batch: UnreadableBatch, work: Work): void {
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
