/**
 * From a call, or a batch of them, to events that Kafka has acknowledged.
 *
 * What is answered with 200 is kept, good or bad: the good calls as events, a bad one of a good batch in
 * `events.rejected`. What is answered with an error is the sender's still, so nothing of it is set aside.
 */
import { randomUUID } from 'node:crypto';
import type { Source } from '@tailrace/config';
import { TailraceError, type ErrorCode } from '@tailrace/errors';
import {
  callBytes,
  maxBatchBytes,
  maxBatchCalls,
  maxCallBytes,
  maxEventBytes,
  readBatch,
  readCall,
  userKey,
  type BatchFields,
  type EventType,
  type JsonObject,
  type TailraceEvent,
} from '@tailrace/events';
import type { OutgoingRecord, Publisher } from '@tailrace/kafka';
import type { TopicNames } from '@tailrace/topics';
import type { IngestObserver } from './observe.ts';
import type { RateLimits } from './rate-limit.ts';

/** What is known of a request beside its body. */
export interface Origin {
  readonly source: Source;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  /** W3C Trace Context, valid. */
  readonly traceparent?: string | undefined;
}

/** A call of a batch that cannot be used. */
export interface RejectedCall {
  /** Its place in the batch, from 0. */
  readonly index: number;
  readonly messageId?: string;
  readonly code: Extract<ErrorCode, 'invalid-call' | 'call-too-large'>;
  /** What is wrong, and how to mend it. */
  readonly message: string;
}

export interface BatchOutcome {
  /** How many calls Kafka has acknowledged. */
  readonly accepted: number;
  readonly rejected: readonly RejectedCall[];
}

/** Both throw TailraceError `rate-limited`, and whatever a publisher throws, beside what they say. */
export interface Acceptor {
  /** @throws TailraceError `invalid-call` */
  call(type: EventType, input: unknown, origin: Origin): Promise<void>;
  /**
   * Where no call of a batch can be used, nothing is set aside. `bodyBytes` is the size of the whole body.
   *
   * @throws TailraceError `invalid-call` where it is not a batch, `batch-too-large`
   */
  batch(body: unknown, bodyBytes: number, origin: Origin): Promise<BatchOutcome>;
}

/** What the calls of a batch share counts once for each; together it may come to this. */
const maxSharedBytes = 8 * maxBatchBytes;

export function createAcceptor(dependencies: {
  readonly publisher: Pick<Publisher, 'publish'>;
  readonly names: Pick<TopicNames, 'events' | 'eventsRejected'>;
  readonly rateLimits: RateLimits;
  readonly observer: IngestObserver;
}): Acceptor {
  const { publisher, names, rateLimits, observer } = dependencies;

  const countCalls = (source: Source, calls: number): void => {
    const retryAfterS = rateLimits.take(source, calls);
    if (retryAfterS > 0) throw new TailraceError('rate-limited', undefined, { retryAfterS });
  };

  return {
    async call(type, input, origin) {
      countCalls(origin.source, 1);
      const { receivedAt } = origin;
      const reading = readCall(input, { type, receivedAt, fallbackMessageId: randomUUID });
      if (!reading.ok) throw new TailraceError(reading.code, reading.message);
      await publisher.publish(
        eventRecord(names.events, reading.event, JSON.stringify(reading.event), origin),
      );
      observer.accepted(type);
    },

    async batch(body, bodyBytes, origin) {
      const { calls, fields } = readCalls(body, bodyBytes);
      countCalls(origin.source, calls.length);
      const events: TailraceEvent[] = [];
      const records: OutgoingRecord[] = [];
      const rejected: RejectedCall[] = [];
      for (const [index, call] of calls.entries()) {
        const reading = readItem(call, bodyBytes, { ...fields, receivedAt: origin.receivedAt });
        if (reading.ok) {
          events.push(reading.event);
          records.push(eventRecord(names.events, reading.event, reading.json, origin));
          continue;
        }
        const { code, message } = reading;
        const messageId = textOf(call, 'messageId');
        rejected.push({ index, ...(messageId !== undefined && { messageId }), code, message });
      }
      if (records.length === 0 && rejected.length > 0) return { accepted: 0, rejected };

      for (const rejection of rejected) {
        records.push(rejectedRecord(names.eventsRejected, calls[rejection.index], rejection, origin));
      }
      await Promise.all(records.map((record) => publisher.publish(record)));
      for (const { type } of events) observer.accepted(type);
      for (const { code } of rejected) observer.rejected(code);
      return { accepted: events.length, rejected };
    },
  };
}

function readCalls(
  body: unknown,
  bodyBytes: number,
): { readonly calls: readonly unknown[]; readonly fields: BatchFields } {
  const batch = isObject(body) ? body['batch'] : undefined;
  // An SDK that has nothing to send says `"batch": null`.
  const calls = batch === null ? [] : batch;
  if (!isObject(body) || !Array.isArray(calls)) {
    throw new TailraceError('invalid-call', 'A batch must be a JSON object with an array `batch` of calls.');
  }
  if (calls.length > maxBatchCalls) throw new TailraceError('batch-too-large');
  const reading = readBatch(body);
  if (!reading.ok) throw new TailraceError(reading.code, reading.message);
  const { fields } = reading;
  if (bodyBytes * calls.length > maxSharedBytes) {
    const sharedBytes = callBytes(fields.batchContext ?? null) + callBytes(fields.batchIntegrations ?? null);
    if (sharedBytes * calls.length > maxSharedBytes) {
      const message =
        'The context and integrations of the batch are too large for so many calls. Send fewer calls at a time.';
      throw new TailraceError('batch-too-large', message);
    }
  }
  return { calls, fields };
}

type ItemReading =
  | { readonly ok: true; readonly event: TailraceEvent; readonly json: string }
  | { readonly ok: false; readonly code: RejectedCall['code']; readonly message: string };

function readItem(
  call: unknown,
  bodyBytes: number,
  options: BatchFields & { readonly receivedAt: number },
): ItemReading {
  // In a body that is no larger than one call may be, none needs measuring.
  if (bodyBytes > maxCallBytes && callBytes(call) > maxCallBytes) return tooLarge();
  const reading = readCall(call, { ...options, fallbackMessageId: randomUUID });
  if (!reading.ok) return reading;
  const json = JSON.stringify(reading.event);
  // A UTF-16 unit is at most three bytes of UTF-8.
  const fits = json.length * 3 <= maxEventBytes || Buffer.byteLength(json) <= maxEventBytes;
  return fits ? { ok: true, event: reading.event, json } : tooLarge();
}

function tooLarge(): ItemReading {
  const { code, message } = new TailraceError('call-too-large');
  return { ok: false, code: code as 'call-too-large', message };
}

function eventRecord(topic: string, event: TailraceEvent, json: string, origin: Origin): OutgoingRecord {
  return { topic, key: userKey(event), value: json, headers: originHeaders(origin) };
}

function rejectedRecord(
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
  const key = textOf(call, 'userId') ?? textOf(call, 'anonymousId') ?? null;
  return { topic, key, value: jsonOf(call), headers };
}

function originHeaders({ source, traceparent }: Origin): Record<string, string> {
  return traceparent === undefined ? { 'source-id': source.id } : { 'source-id': source.id, traceparent };
}

/** null for a call that is nested too deeply to be written, of which nothing then can be kept. */
function jsonOf(call: unknown): string | null {
  return callBytes(call) === Infinity ? null : JSON.stringify(call);
}

function textOf(call: unknown, field: string): string | undefined {
  const value = isObject(call) ? call[field] : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
