/** The limits of the tracking API (docs/specification.md, rules 2.1 to 2.4), in bytes after decompression. */
import { writeJson } from './write-json.ts';

export const maxCallBytes = 32 * 1024;
export const maxBatchBytes = 500 * 1024;
export const maxBatchCalls = 2500;

/**
 * The largest event that may stand in `events`. It is more than a call, because enrichment adds times and ids,
 * repeats traits that only the context held, and merges in the context of the batch.
 */
export const maxEventBytes = 2 * maxCallBytes + 4096;

/**
 * What one call of a batch weighs: its bytes as compact JSON in UTF-8. Only a batch larger than
 * {@link maxCallBytes} can hold a call that is, so most need no measuring.
 */
export function callBytes(call: unknown): number {
  return Buffer.byteLength(writeJson(call));
}

/** Whether an event, as JSON, is no larger than {@link maxEventBytes}. */
export function fitsEvents(json: string): boolean {
  // A UTF-16 unit is at most three bytes of UTF-8.
  return json.length * 3 <= maxEventBytes || Buffer.byteLength(json) <= maxEventBytes;
}
