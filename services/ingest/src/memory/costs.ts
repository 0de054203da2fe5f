/** The memory of requests, records and responses: heap and buffers of Node 24, measured with thousands of each. */
import { isAscii } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { OutgoingRecord } from '@tailrace/kafka';
import type { RejectedCall } from '../calls/records.ts';
import type { Answer } from '../http/answer.ts';

/** The objects of node:http and of ingest for a request and its response. Measured: 4,600. */
const exchangeBytes = 5 * 1024;
/**
 * A name or a value of a header, without its characters: node:http keeps them in a list and, by name, in an object.
 * Measured: 46.
 */
const headerTextBytes = 72;
/**
 * A record that waits for Kafka, without its texts: the record, its entry in the publisher's queue, three promises.
 * Measured: 850.
 */
const recordBytes = 896;
/** A rejected call, without its texts. */
const rejectionBytes = 256;

/** A request that is not answered yet, without its body. */
export function requestBytes({ url = '', rawHeaders }: IncomingMessage): number {
  let bytes = exchangeBytes + url.length;
  for (const text of rawHeaders) bytes += headerTextBytes + text.length;
  return bytes;
}

/** The bytes of a UTF-16 unit of the texts in `json`. V8 uses one byte where the text allows it. */
export function unitBytesOf(json: Buffer): 1 | 2 {
  return isAscii(json) && !json.includes('\\u') ? 1 : 2;
}

/** Records that wait for Kafka. */
export function recordsBytes(records: readonly OutgoingRecord[], unitBytes: 1 | 2): number {
  let units = 0;
  for (const { key, value } of records) units += (key?.length ?? 0) + (value?.length ?? 0);
  return records.length * recordBytes + units * unitBytes;
}

/** Rejected calls: the objects, their text in the response, and the bytes that a socket holds. */
export function rejectionsBytes(rejected: readonly RejectedCall[]): number {
  let units = 0;
  for (const { messageId = '', message } of rejected) units += messageId.length + message.length;
  return rejected.length * rejectionBytes + units * 4;
}

/** A response that is not sent yet. A buffer is shared by all requests, and sent without a copy. */
export function answerBytes({ body }: Answer): number {
  return typeof body === 'string' ? 2 * body.length : 0;
}
