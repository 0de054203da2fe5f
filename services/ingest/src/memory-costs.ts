/** What the things that requests hold take in memory: heap and buffers of Node 24, measured with thousands of each. */
import { isAscii } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { OutgoingRecord } from '@tailrace/kafka';
import type { RejectedCall } from './accept.ts';
import type { Answer } from './answer.ts';

/** The objects of node:http for a request and its answer, and ours. Measured: 4,600. */
const exchangeBytes = 5 * 1024;
/** A name or a value of a header, beside its characters: node:http keeps them in a list and, by name, in an object. Measured: 46. */
const headerTextBytes = 72;
/** A record that waits for Kafka, beside its texts: itself, its entry in the publisher's queue, three promises. Measured: 850. */
const recordBytes = 896;
/** A call that was set aside, beside its texts. */
const rejectionBytes = 256;

/** A request that is not answered yet, without its body. */
export function requestBytes({ url = '', rawHeaders }: IncomingMessage): number {
  let bytes = exchangeBytes + url.length;
  for (const text of rawHeaders) bytes += headerTextBytes + text.length;
  return bytes;
}

/** What a UTF-16 unit of the texts of `json` takes: V8 keeps a text in one byte each as long as it can. */
export function unitBytesOf(json: Buffer): 1 | 2 {
  return isAscii(json) && !json.includes('\\u') ? 1 : 2;
}

/** Records that wait for Kafka. */
export function recordsBytes(records: readonly OutgoingRecord[], unitBytes: 1 | 2): number {
  let units = 0;
  for (const { key, value } of records) units += (key?.length ?? 0) + (value?.length ?? 0);
  return records.length * recordBytes + units * unitBytes;
}

/** Calls that the answer names: as they are, and in the answer as a text, and as the bytes that a socket holds. */
export function rejectionsBytes(rejected: readonly RejectedCall[]): number {
  let units = 0;
  for (const { messageId = '', message } of rejected) units += messageId.length + message.length;
  return rejected.length * rejectionBytes + units * 4;
}

/** An answer that is not sent yet. One of bytes is the same for all requests, and sent without a copy. */
export function answerBytes({ body }: Answer): number {
  return typeof body === 'string' ? 2 * body.length : 0;
}
