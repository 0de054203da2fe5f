/** The record of `events.rejected`: one of `events` as it was received, and why it could not be used. */
import type { ErrorCode } from '@tailrace/errors';
import type { ConsumedRecord, OutgoingRecord, UnreadableBatch } from '@tailrace/kafka';

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
  /** Sentences that say what is wrong and how to fix it. */
  readonly message: string;
}

/**
 * Key, value and headers byte for byte. Headers that say why it is here and where it came from are added at the end;
 * where the producer used one of their names, both are there, and ours is the last.
 */
export function rejectedRecord(topic: string, record: ConsumedRecord, rejection: Rejection): OutgoingRecord {
  const { key, value, headerList } = record;
  return { topic, key, value, headers: [...headerList, ...reasonHeaders(record, rejection)] };
}

/** What is left where the record as a whole, with the added headers, is more than Kafka takes: only those headers. */
export function rejectedStub(topic: string, record: ConsumedRecord, rejection: Rejection): OutgoingRecord {
  const message = `${rejection.message} The record is too large to be kept here; it is still at its origin.`;
  return { topic, key: null, value: null, headers: reasonHeaders(record, { ...rejection, message }) };
}

/** Stands for all records of a batch that could not be read. */
export function rejectedBatch(topic: string, batch: UnreadableBatch): OutgoingRecord {
  const { firstOffset, lastOffset, detail } = batch;
  const range =
    firstOffset === lastOffset ? `Record ${firstOffset}` : `Records ${firstOffset} to ${lastOffset}`;
  const message = `${range} of the partition cannot be read, and are skipped. ${detail}`;
  const place = { ...batch, offset: firstOffset };
  const headers = reasonHeaders(place, { code: 'unreadable-batch', message });
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
