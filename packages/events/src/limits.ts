/** The limits of the tracking API (docs/specification.md, rules 2.1 to 2.4, 2.12 and 2.13), in bytes after decompression. */
import { writeJson } from './write-json.ts';

export const maxCallBytes = 32 * 1024;
export const maxBatchBytes = 500 * 1024;
export const maxBatchCalls = 2500;

/**
 * The events of a batch: its body, and its context and integrations once more for each call but the first. A batch of 500 KB and
 * 2,500 calls may share 2 KB, and one of 100 calls 55 KB.
 */
export const maxBatchEventBytes = 12 * maxBatchBytes;

/**
 * The largest event in `events`. It is larger than a call, because reading adds times and ids, copies traits from the context,
 * and merges in the context of the batch.
 */
export const maxEventBytes = 2 * maxCallBytes + 4096;

/**
 * The size of a call: its bytes as compact JSON in UTF-8. Only a body that is larger than {@link maxCallBytes} when its numbers
 * are written can contain a call that is too large, so most calls need not be measured.
 */
export function callBytes(call: unknown): number {
  return Buffer.byteLength(writeJson(call));
}

/** Whether the JSON of an event is at most {@link maxEventBytes} long. */
export function fitsEvents(json: string): boolean {
  // A UTF-16 code unit takes at most three bytes in UTF-8.
  return json.length * 3 <= maxEventBytes || Buffer.byteLength(json) <= maxEventBytes;
}
