/** The record of `events.rejected`: one of `events` as it was received, and why it could not be used. */
import type { ErrorCode } from '@tailrace/errors';
import type { ConsumedRecord, OutgoingRecord } from '@tailrace/kafka';

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
  >;
  /** Sentences that say what is wrong and how to mend it. */
  readonly message: string;
}

/** Key, value and headers byte for byte, with headers added that say why it is here and where it came from. */
export function rejectedRecord(topic: string, record: ConsumedRecord, rejection: Rejection): OutgoingRecord {
  const { key, value, headers } = record;
  return { topic, key, value, headers: { ...headers, ...reasonHeaders(record, rejection) } };
}

/** What is left where the record as a whole, with the added headers, is more than Kafka takes: only those headers. */
export function rejectedStub(topic: string, record: ConsumedRecord, rejection: Rejection): OutgoingRecord {
  const message = `${rejection.message} The record is too large to be kept here; it is still at its origin.`;
  return { topic, key: null, value: null, headers: reasonHeaders(record, { ...rejection, message }) };
}

function reasonHeaders(
  { topic, partition, offset }: ConsumedRecord,
  { code, message }: Rejection,
): Record<string, string> {
  return {
    'error-code': code,
    'error-message': message,
    'origin-topic': topic,
    'origin-partition': String(partition),
    'origin-offset': String(offset),
  };
}
