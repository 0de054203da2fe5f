/**
 * Turns a call, or a batch of calls, into events that Kafka has acknowledged.
 *
 * A response of 200 means that everything is stored: the valid calls as events, the invalid calls of a batch in
 * `events.rejected`. After an error the sender still owns the calls, so none of them is stored as rejected.
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
import type { IngestMetrics } from '../metrics.ts';
import type { RateLimits } from './rate-limit.ts';

/** The context of a request. */
export interface Origin {
  readonly source: Source;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  /** W3C Trace Context, valid. */
  readonly traceparent?: string | undefined;
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

export interface BatchOutcome {
  /** The number of calls that Kafka has acknowledged. */
  readonly accepted: number;
  readonly rejected: readonly RejectedCall[];
}

/**
 * Reserves memory for the records that will wait for Kafka, before any of them is published. Throws TailraceError
 * `overloaded` where there is not enough.
 */
export type Reserve = (records: readonly OutgoingRecord[], rejected: readonly RejectedCall[]) => void;

/**
 * Both methods also throw TailraceError `rate-limited`, and the errors of `reserve` and of the publisher. They read
 * `input` before they return, and keep only strings of it.
 */
export interface Acceptor {
  /** @throws TailraceError `invalid-call`, `call-too-large` */
  call(type: EventType, input: unknown, origin: Origin, reserve: Reserve): Promise<void>;
  /**
   * Where no call of a batch is valid, nothing is published. `bodyBytes` is the size of the whole body.
   *
   * @throws TailraceError `invalid-call` where it is not a batch, `batch-too-large`
   */
  batch(body: unknown, bodyBytes: number, origin: Origin, reserve: Reserve): Promise<BatchOutcome>;
}

/** Limit for the shared fields of a batch, counted once for each call. */
const maxSharedBytes = 8 * maxBatchBytes;

export function createAcceptor(dependencies: {
  readonly publisher: Pick<Publisher, 'publish'>;
  readonly names: Pick<TopicNames, 'events' | 'eventsRejected'>;
  readonly rateLimits: RateLimits;
  readonly metrics: Pick<IngestMetrics, 'acceptedCalls' | 'rejectedCalls'>;
}): Acceptor {
  const { publisher, names, rateLimits, metrics } = dependencies;

  const countCalls = (source: Source, calls: number): void => {
    const retryAfterS = rateLimits.consume(source, calls);
    if (retryAfterS > 0) throw new TailraceError('rate-limited', undefined, { retryAfterS });
  };

  /**
   * A separate function, because variables of the functions that read the input would stay in memory while it
   * waits.
   */
  const publish = async (
    records: readonly OutgoingRecord[],
    types: readonly EventType[],
    rejected: readonly RejectedCall[],
  ): Promise<BatchOutcome> => {
    await Promise.all(records.map((record) => publisher.publish(record)));
    for (const type of types) metrics.acceptedCalls.inc({ type });
    for (const { code } of rejected) metrics.rejectedCalls.inc({ code });
    return { accepted: types.length, rejected };
  };

  return {
    async call(type, input, origin, reserve) {
      countCalls(origin.source, 1);
      const reading = readEvent(input, { type, receivedAt: origin.receivedAt });
      if (!reading.ok) throw new TailraceError(reading.code, reading.message);
      const record = eventRecord(names.events, reading.event, reading.json, origin);
      reserve([record], []);
      return publisher.publish(record).then(() => {
        metrics.acceptedCalls.inc({ type });
      });
    },

    async batch(body, bodyBytes, origin, reserve) {
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
        reserve([], rejected);
        return { accepted: 0, rejected };
      }

      for (const rejection of rejected) {
        records.push(rejectedRecord(names.eventsRejected, calls[rejection.index], rejection, origin));
      }
      reserve(records, rejected);
      return publish(records, types, rejected);
    },
  };
}

function readCalls(
  body: unknown,
  bodyBytes: number,
): { readonly calls: readonly unknown[]; readonly fields: BatchFields } {
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
  // In a body of at most the size of one call, no call can be too large.
  if (bodyBytes > maxCallBytes && callBytes(call) > maxCallBytes) return tooLarge();
  return readEvent(call, options);
}

/**
 * The event, and its JSON as stored. An event that the router would refuse for its size is refused here, before the
 * response.
 */
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
  `With the context and integrations of its batch, the call has more than ${maxEventBytes} bytes as stored. ` +
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

/** The id of an invalid call, whose fields may have any value. */
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
