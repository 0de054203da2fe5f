/** Reads the body of a batch, and bounds the events that it becomes. */
import { TailraceError } from '@tailrace/errors';
import { callBytes, maxBatchCalls, maxBatchEventBytes, readBatch, type BatchFields } from '@tailrace/events';
import { isObject } from './records.ts';

export interface Batch {
  readonly calls: readonly unknown[];
  readonly fields: BatchFields;
  /** The size of its events: its body, and its context and integrations once more for each call but the first. */
  readonly eventBytes: number;
}

/** @throws TailraceError `invalid-call` where it is not a batch, `batch-too-large` */
export function readCalls(body: unknown, bodyBytes: number): Batch {
  const batch = isObject(body) ? body['batch'] : undefined;
  // An SDK without calls sends `"batch": null`.
  const calls = batch === null ? [] : batch;
  if (!isObject(body) || !Array.isArray(calls)) {
    throw new TailraceError('invalid-call', 'A batch must be a JSON object with an array `batch` of calls.');
  }
  if (calls.length > maxBatchCalls) throw new TailraceError('batch-too-large');
  const reading = readBatch(body);
  if (!reading.ok) throw new TailraceError(reading.code, reading.message);
  const { fields } = reading;
  const eventBytes = bodyBytes + sharedBytes(fields) * Math.max(0, calls.length - 1);
  if (eventBytes > maxBatchEventBytes) throw new TailraceError('batch-too-large', tooManyCopies);
  return { calls, fields, eventBytes };
}

const tooManyCopies =
  `With the context and integrations of the batch in each of its calls, the batch has more than ${maxBatchEventBytes} bytes. ` +
  'Send fewer calls in one batch, or less in its context.';

function sharedBytes({ batchContext, batchIntegrations }: BatchFields): number {
  return (
    (batchContext ? callBytes(batchContext) : 0) + (batchIntegrations ? callBytes(batchIntegrations) : 0)
  );
}
