/** Reads a record of `events`: its call, and how it names its source. Does not need the configuration. */
import { isUtf8 } from 'node:buffer';
import {
  callBytes,
  isInstant,
  maxEventBytes,
  parseSizedJson,
  readCall,
  recordMessageId,
  type ReadResult,
  type SizedJson,
} from '@tailrace/events';
import type { ConsumedRecord } from '@tailrace/kafka';
import type { RejectionCode } from '@tailrace/metrics';
import { magicByte, type FrameReader } from '@tailrace/registry';
import { sourceReference, type SourceReference } from './source.ts';

/** Why a record cannot be used. */
export interface Rejection {
  readonly code: RejectionCode;
  /** Sentences that say what is wrong and how to fix it. They quote no content. */
  readonly message: string;
}

export interface ReadRecord {
  readonly outcome: 'read';
  readonly source: SourceReference;
  readonly call: unknown;
  /** The value, where it is JSON. */
  readonly json: string | undefined;
}

export type RecordReading =
  | ReadRecord
  | ({ readonly outcome: 'rejected' } & Rejection)
  /** Has to be read again once the schema has been fetched. */
  | { readonly outcome: 'needs-schema'; readonly schemaId: number };

export function readRecord(
  { value, headers }: Pick<ConsumedRecord, 'value' | 'headers'>,
  frames: Pick<FrameReader, 'read'>,
): RecordReading {
  if (value === null) {
    return rejection('malformed-json', 'The record has no value. Write one tracking call as JSON.');
  }
  if (isTooLarge({ value })) return tooLarge(`${value.length} bytes`);
  if (value[0] === magicByte) {
    const reading = frames.read(value);
    if (reading.outcome !== 'read') return reading;
    // A few bytes of Avro may become many of JSON.
    return tooLargeAsJson(reading.value) ?? withSource(headers, reading.value);
  }
  const parsed = parse(value);
  if (parsed === undefined) {
    return rejection('malformed-json', 'The value is not JSON in UTF-8. Write one tracking call as JSON.');
  }
  // So may numbers, in a record that ingest did not write.
  const rejected = value.length + parsed.growth > maxEventBytes ? tooLargeAsJson(parsed.value) : undefined;
  return rejected ?? withSource(headers, parsed.value, parsed.json);
}

/** The event of a record: the call, completed as ingest completes it. */
export function readEvent(
  record: Pick<ConsumedRecord, 'topic' | 'partition' | 'offset' | 'timestamp'>,
  { call }: Pick<ReadRecord, 'call'>,
): ReadResult {
  const { timestamp } = record;
  return readCall(call, {
    enriched: true,
    receivedAt: timestamp >= 0 && isInstant(timestamp) ? timestamp : Date.now(),
    fallbackMessageId: () => recordMessageId(record),
  });
}

/** Whether the value is larger than any valid call. */
export function isTooLarge({ value }: Pick<ConsumedRecord, 'value'>): boolean {
  return value !== null && value.length > maxEventBytes;
}

function withSource(headers: ConsumedRecord['headers'], call: unknown, json?: string): RecordReading {
  const source = sourceReference(headers, call);
  if (!source) {
    return rejection(
      'unknown-source',
      'The record names no source. Set the Kafka header source-id or write-key, or the field writeKey.',
    );
  }
  return { outcome: 'read', source, call, json };
}

function parse(value: Buffer): (SizedJson & { readonly json: string }) | undefined {
  if (!isUtf8(value)) return undefined;
  const json = value.toString();
  try {
    return { json, ...parseSizedJson(json) };
  } catch {
    return undefined;
  }
}

function tooLargeAsJson(call: unknown): RecordReading | undefined {
  const bytes = callBytes(call);
  return bytes > maxEventBytes
    ? tooLarge(`${bytes} bytes as JSON, with numbers such as 1e20 written out`)
    : undefined;
}

function tooLarge(size: string): RecordReading {
  return rejection('call-too-large', `The call has ${size}; ${maxEventBytes} are allowed.`);
}

function rejection(code: Rejection['code'], message: string): RecordReading {
  return { outcome: 'rejected', code, message };
}
