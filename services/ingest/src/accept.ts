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
  fitsEvents,
  idProblem,
  maxBatchBytes,
  maxBatchCalls,
  maxCallBytes,
  maxEventBytes,
  maxIdLength,
  readBatch,
  readCall,
  userKey,
  writeJson,
  type BatchFields,
  type EventType,
  type JsonObject,
  type ReadOptions,
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
  /** What is wrong, and how to fix it. */
  readonly message: string;
}

export interface BatchOutcome {
  /** How many calls Kafka has acknowledged. */
  readonly accepted: number;
  readonly rejected: readonly RejectedCall[];
}

/**
 * Called with what will be held while Kafka is waited for, before anything is published. Throws TailraceError
 * `overloaded` where it is too much.
 */
export type Hold = (records: readonly OutgoingRecord[], rejected: readonly RejectedCall[]) => void;

/**
 * Both throw TailraceError `rate-limited`, and what `hold` and a publisher throw, beside what they say. They read
 * `input` before they return, and keep nothing of it but texts.
 */
export interface Acceptor {
  /** @throws TailraceError `invalid-call`, `call-too-large` */
  call(type: EventType, input: unknown, origin: Origin, hold: Hold): Promise<void>;
  /**
   * Where no call of a batch can be used, nothing is set aside. `bodyBytes` is the size of the whole body.
   *
   * @throws TailraceError `invalid-call` where it is not a batch, `batch-too-large`
   */
  batch(body: unknown, bodyBytes: number, origin: Origin, hold: Hold): Promise<BatchOutcome>;
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

  /** Apart from the functions that read the input, whose variables are kept for as long as they wait. */
  const publish = async (
    records: readonly OutgoingRecord[],
    types: readonly EventType[],
    rejected: readonly RejectedCall[],
  ): Promise<BatchOutcome> => {
    await Promise.all(records.map((record) => publisher.publish(record)));
    for (const type of types) observer.accepted(type);
    for (const { code } of rejected) observer.rejected(code);
    return { accepted: types.length, rejected };
  };

  return {
    async call(type, input, origin, hold) {
      countCalls(origin.source, 1);
      const reading = readEvent(input, { type, receivedAt: origin.receivedAt });
      if (!reading.ok) throw new TailraceError(reading.code, reading.message);
      const record = eventRecord(names.events, reading.event, reading.json, origin);
      hold([record], []);
      return publisher.publish(record).then(() => {
        observer.accepted(type);
      });
    },

    async batch(body, bodyBytes, origin, hold) {
      const { calls, fields } = readCalls(body, bodyBytes);
      countCalls(origin.source, calls.length);
      const types: EventType[] = [];
      const records: OutgoingRecord[] = [];
      const rejected: RejectedCall[] = [];
      for (const [index, call] of calls.entries()) {
        const reading = readItem(call, bodyBytes, { ...fields, receivedAt: origin.receivedAt });
        if (reading.ok) {
          types.push(reading.event.type);
          records.push(eventRecord(names.events, reading.event, reading.json, origin));
          continue;
        }
        const { code, message } = reading;
        const messageId = textOf(call, 'messageId');
        rejected.push({ index, ...(messageId !== undefined && { messageId }), code, message });
      }
      if (records.length === 0 && rejected.length > 0) {
        hold([], rejected);
        return { accepted: 0, rejected };
      }

      for (const rejection of rejected) {
        records.push(rejectedRecord(names.eventsRejected, calls[rejection.index], rejection, origin));
      }
      hold(records, rejected);
      return publish(records, types, rejected);
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

type EventReading =
  | { readonly ok: true; readonly event: TailraceEvent; readonly json: string }
  | { readonly ok: false; readonly code: RejectedCall['code']; readonly message: string };

function readItem(
  call: unknown,
  bodyBytes: number,
  options: BatchFields & { readonly receivedAt: number },
): EventReading {
  // In a body that is no larger than one call may be, none needs measuring.
  if (bodyBytes > maxCallBytes && callBytes(call) > maxCallBytes) return tooLarge();
  return readEvent(call, options);
}

/** The event, and its JSON as it is stored: what the router refuses for its size is refused here, before the answer. */
function readEvent(
  call: unknown,
  options: Omit<ReadOptions, 'fallbackMessageId' | 'enriched'>,
): EventReading {
  const reading = readCall(call, { ...options, fallbackMessageId: randomUUID });
  if (!reading.ok) return reading;
  const json = JSON.stringify(reading.event);
  return fitsEvents(json) ? { ok: true, event: reading.event, json } : tooLarge(eventTooLarge);
}

const eventTooLarge =
  `With the context and integrations of its batch the call has more than ${maxEventBytes} bytes as it is stored. ` +
  'Send less in them.';

function tooLarge(reason?: string): EventReading {
  const { code, message } = new TailraceError('call-too-large', reason);
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
  const key = idOf(call, 'userId') ?? idOf(call, 'anonymousId') ?? null;
  return { topic, key, value: writeJson(call), headers };
}

function originHeaders({ source, traceparent }: Origin): Record<string, string> {
  return traceparent === undefined ? { 'source-id': source.id } : { 'source-id': source.id, traceparent };
}

/** Of a bad call, which may have anything there. */
function idOf(call: unknown, field: string): string | undefined {
  const text = textOf(call, field);
  return text === undefined || idProblem(text, maxIdLength) !== undefined ? undefined : text;
}

function textOf(call: unknown, field: string): string | undefined {
  const value = isObject(call) ? call[field] : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
