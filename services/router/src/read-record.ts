/** From a record of `events` to a call and the source it names. Nothing here needs the configuration. */
import { isUtf8 } from 'node:buffer';
import { maxEventBytes } from '@tailrace/events';
import type { ConsumedRecord } from '@tailrace/kafka';
import type { Rejection } from './rejected.ts';

/** How a record says which source it is from. */
export interface SourceReference {
  readonly by: 'id' | 'write-key';
  readonly value: string;
}

export type RecordReading =
  | { readonly ok: true; readonly source: SourceReference; readonly call: unknown }
  | ({ readonly ok: false } & Rejection);

/** The first byte of Confluent's wire format; no JSON text begins with it. */
const magicByte = 0;

export function readRecord({ value, headers }: Pick<ConsumedRecord, 'value' | 'headers'>): RecordReading {
  if (value === null) {
    return rejection('malformed-json', 'The record has no value. Write one tracking call as JSON.');
  }
  if (value.length > maxEventBytes) {
    return rejection('call-too-large', `The call has ${value.length} bytes; ${maxEventBytes} are allowed.`);
  }
  if (value[0] === magicByte) {
    return rejection(
      'unsupported-encoding',
      'The value is in Confluent wire format, which is not read yet. Write the call as plain JSON.',
    );
  }
  const call = parse(value);
  if (call === undefined) {
    return rejection('malformed-json', 'The value is not JSON in UTF-8. Write one tracking call as JSON.');
  }
  const source = sourceOf(headers, call);
  if (!source) {
    return rejection(
      'unknown-source',
      'The record names no source. Set the Kafka header source-id or write-key, or the field writeKey.',
    );
  }
  return { ok: true, source, call };
}

/** What ingest and careful producers set comes first; the field is for those who can set no headers. */
function sourceOf(headers: ConsumedRecord['headers'], call: unknown): SourceReference | undefined {
  const id = headers['source-id']?.toString();
  if (id) return { by: 'id', value: id };
  const writeKey = headers['write-key']?.toString() ?? (call as { writeKey?: unknown } | null)?.writeKey;
  return typeof writeKey === 'string' && writeKey !== '' ? { by: 'write-key', value: writeKey } : undefined;
}

function parse(value: Buffer): unknown {
  if (!isUtf8(value)) return undefined;
  try {
    return JSON.parse(value.toString());
  } catch {
    return undefined;
  }
}

function rejection(code: Rejection['code'], message: string): RecordReading {
  return { ok: false, code, message };
}
