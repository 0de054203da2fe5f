/** Reads calls into events, and makes the records of `events` and `events.rejected`. */
import { randomUUID } from 'node:crypto';
import type { Source } from '@tailrace/config';
import { TailraceError, type ErrorCode } from '@tailrace/errors';
import {
  callBytes,
  fitsEvents,
  idProblem,
  maxCallBytes,
  maxEventBytes,
  maxIdLength,
  readCall,
  userKey,
  writeJson,
  type BatchFields,
  type JsonObject,
  type ReadOptions,
  type TailraceEvent,
} from '@tailrace/events';
import type { OutgoingRecord } from '@tailrace/kafka';

/** The context of a request. */
export interface Origin {
  readonly source: Source;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  /** The size of the whole body, after decompression and with its numbers written out. */
  readonly bodyBytes: number;
  /** W3C Trace Context, valid. */
  readonly traceparent?: string | undefined;
  /** That of the sender, where the source has `addIp`. */
  readonly ip?: string | undefined;
}

/** An invalid call of a batch. */
export interface RejectedCall {
  /** The index in the batch, from 0. */
  readonly index: number;
  readonly messageId?: string;
  readonly code: Extract<ErrorCode, 'invalid-call' | 'call-too-large'>;
  /** The problem, and how to fix it. */
  readonly message: string;
}

type EventReading =
  | { readonly ok: true; readonly event: TailraceEvent; readonly json: string }
  | { readonly ok: false; readonly code: RejectedCall['code']; readonly message: string };

/**
 * The fields of a batch, or of a call alone, with `context.ip` (docs/specification.md, rules 2.14 and 14.10). The sender's own `ip` takes
 * precedence, as any key of the call does. The context of a batch is copied once.
 */
export function withIp(fields: BatchFields, ip: string | undefined): BatchFields {
  return ip === undefined ? fields : { ...fields, batchContext: { ip, ...fields.batchContext } };
}

/**
 * The event, and its JSON as stored. An event that the router would refuse for its size is refused here, before the
 * response.
 */
export function readEvent(
  call: unknown,
  bodyBytes: number,
  options: Omit<ReadOptions, 'fallbackMessageId' | 'enriched'>,
): EventReading {
  // In a body of at most the size of one call, no call can be too large.
  if (bodyBytes > maxCallBytes && callBytes(call) > maxCallBytes) return tooLarge();
  const reading = readCall(call, { ...options, fallbackMessageId: randomUUID });
  if (!reading.ok) return reading;
  const json = JSON.stringify(reading.event);
  return fitsEvents(json) ? { ok: true, event: reading.event, json } : tooLarge(eventTooLarge);
}

const eventTooLarge =
  `With the context and integrations of its batch, the call has more than ${maxEventBytes} bytes as stored. ` +
  'Send less in them.';

function tooLarge(reason?: string): EventReading {
  const { code, message } = new TailraceError('call-too-large', reason);
  return { ok: false, code: code as 'call-too-large', message };
}

export function eventRecord(
  topic: string,
  event: TailraceEvent,
  json: string,
  origin: Origin,
): OutgoingRecord {
  return { topic, key: userKey(event), value: json, headers: originHeaders(origin) };
}

export function rejectedRecord(
  topic: string,
  call: unknown,
  { code, message }: RejectedCall,
  origin: Origin,
): OutgoingRecord {
  const headers = {
    ...originHeaders(origin),
    'error-code': code,
    'error-message': message,
    origin: 'ingest',
  };
  const key = idOf(call, 'userId') ?? idOf(call, 'anonymousId') ?? null;
  return { topic, key, value: writeJson(call), headers };
}

function originHeaders({ source, traceparent }: Origin): Record<string, string> {
  return traceparent === undefined ? { 'source-id': source.id } : { 'source-id': source.id, traceparent };
}

export function rejectionOf(
  index: number,
  call: unknown,
  { code, message }: Omit<Extract<EventReading, { ok: false }>, 'ok'>,
): RejectedCall {
  const messageId = textOf(call, 'messageId');
  return { index, ...(messageId !== undefined && { messageId }), code, message };
}

/** The id of an invalid call, whose fields may have any value. */
function idOf(call: unknown, field: string): string | undefined {
  const text = textOf(call, field);
  return text === undefined || idProblem(text, maxIdLength) !== undefined ? undefined : text;
}

function textOf(call: unknown, field: string): string | undefined {
  const value = isObject(call) ? call[field] : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
