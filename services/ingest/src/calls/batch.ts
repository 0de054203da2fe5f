/**
 * Reads the body of a batch, and decides whether its calls become records at the same time or in portions.
 *
 * Each event contains the context and integrations of its batch, so 500 KB can become 170 MB of records. A batch
 * whose copies are too large is kept as text, and its calls become records portion by portion.
 */
import { TailraceError } from '@tailrace/errors';
import {
  callBytes,
  maxBatchBytes,
  maxBatchCalls,
  parseJson,
  readBatch,
  writeJson,
  type BatchFields,
} from '@tailrace/events';
import { isObject } from './records.ts';

export interface Batch {
  readonly calls: readonly unknown[];
  readonly fields: BatchFields;
}

/** A batch whose parsed form is not kept in memory. */
export interface BatchText {
  /** Each call as JSON. */
  readonly calls: readonly string[];
  /** The shared context and integrations as JSON, by their names in `BatchFields`. */
  readonly shared: string;
  readonly sentAt: number | undefined;
}

/** Limit for the copies of the shared fields of a batch whose records are made at the same time. */
const maxSharedBytes = 8 * maxBatchBytes;

/** @throws TailraceError `invalid-call` where it is not a batch, `batch-too-large` */
export function readCalls(body: unknown): Batch {
  const batch = isObject(body) ? body['batch'] : undefined;
  // An SDK without calls sends `"batch": null`.
  const calls = batch === null ? [] : batch;
  if (!isObject(body) || !Array.isArray(calls)) {
    throw new TailraceError('invalid-call', 'A batch must be a JSON object with an array `batch` of calls.');
  }
  if (calls.length > maxBatchCalls) throw new TailraceError('batch-too-large');
  const reading = readBatch(body);
  if (!reading.ok) throw new TailraceError(reading.code, reading.message);
  return { calls, fields: reading.fields };
}

export function needsPortions({ calls, fields }: Batch, bodyBytes: number): boolean {
  // Only a large body can have so much in common, so most batches are not measured.
  if (bodyBytes * calls.length <= maxSharedBytes) return false;
  const sharedBytes = callBytes(fields.batchContext ?? null) + callBytes(fields.batchIntegrations ?? null);
  return sharedBytes * calls.length > maxSharedBytes;
}

export function batchText({ calls, fields }: Batch): BatchText {
  const { sentAt, ...shared } = fields;
  return { calls: calls.map(writeJson), shared: writeJson(shared), sentAt };
}

export function sharedFields({ shared, sentAt }: BatchText): BatchFields {
  return { ...(parseJson(shared) as BatchFields), sentAt };
}

/** The length of the texts that are kept while a portion waits for Kafka. */
export function batchTextLength({ calls, shared }: BatchText): number {
  return calls.reduce((length, call) => length + call.length, shared.length);
}
