/**
 * Turns a call, or a batch of calls, into events that Kafka has acknowledged.
 *
 * A response of 200 means that everything is stored: the valid calls as events, the invalid calls of a batch in
 * `events.rejected`. After an error the sender still owns the calls, so none of them is stored as rejected.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Source } from '@tailrace/config';
import { isTailraceError, TailraceError } from '@tailrace/errors';
import { parseJson, type BatchFields, type EventType } from '@tailrace/events';
import type { OutgoingRecord, Publisher } from '@tailrace/kafka';
import type { TopicNames } from '@tailrace/topics';
import type { Body } from '../http/decode-body.ts';
import type { IngestMetrics } from '../metrics.ts';
import {
  batchText,
  batchTextLength,
  needsPortions,
  readCalls,
  sharedFields,
  type Batch,
  type BatchText,
} from './batch.ts';
import { exceedsAlready } from './least-size.ts';
import type { RateLimits } from './rate-limit.ts';
import { createTurns } from './turns.ts';
import {
  eventRecord,
  readEvent,
  readTooLarge,
  rejectedRecord,
  rejectionOf,
  type Origin,
  type RejectedCall,
} from './records.ts';

export interface BatchOutcome {
  /** The number of calls that Kafka has acknowledged. */
  readonly accepted: number;
  readonly rejected: readonly RejectedCall[];
}

/**
 * Reserves memory for the records that will wait for Kafka, before any of them is published, in place of the
 * previous reservation. `textLength` is the length of other texts that are kept meanwhile. Throws TailraceError
 * `overloaded` where there is not enough.
 */
export type Reserve = (
  records: readonly OutgoingRecord[],
  rejected: readonly RejectedCall[],
  textLength?: number,
) => void;

/**
 * Both methods also throw TailraceError `rate-limited`, and the errors of `reserve` and of the publisher. They read
 * `body` before they return, and keep only strings of it.
 */
export interface Acceptor {
  /** @throws TailraceError `invalid-call`, `call-too-large` */
  call(type: EventType, body: Body, origin: Origin, reserve: Reserve): Promise<void>;
  /**
   * Where no call of a batch is valid, nothing is published.
   *
   * @throws TailraceError `invalid-call` where it is not a batch, `batch-too-large`
   */
  batch(body: Body, origin: Origin, reserve: Reserve): Promise<BatchOutcome>;
}

/**
 * The length of the events of one portion. Making them takes milliseconds, so that a large batch does not delay
 * other requests.
 */
const maxPortionLength = 1_000_000;

/** One is made while Kafka stores the other. */
const portionsAtATime = 2;

/** The calls of a batch that have been read so far. */
interface Progress {
  /** The types of the valid calls. */
  readonly types: EventType[];
  readonly rejected: RejectedCall[];
}

export function createAcceptor(dependencies: {
  readonly publisher: Pick<Publisher, 'publish'>;
  readonly names: Pick<TopicNames, 'events' | 'eventsRejected'>;
  readonly rateLimits: RateLimits;
  readonly metrics: Pick<IngestMetrics, 'receivedCalls' | 'acceptedCalls' | 'rejectedCalls' | 'refusedCalls'>;
}): Acceptor {
  const { publisher, names, rateLimits, metrics } = dependencies;
  const turns = createTurns(portionsAtATime);

  const checkRate = (source: Source, calls: number): void => {
    const retryAfterS = rateLimits.consume(source, calls);
    if (retryAfterS > 0) throw new TailraceError('rate-limited', undefined, { retryAfterS });
  };

  /** Counts `calls` that end with an error. The closure keeps no input in memory. */
  const countRefused =
    (calls: number) =>
    (error: unknown): never => {
      const code = isTailraceError(error) ? error.code : 'internal-error';
      metrics.refusedCalls.inc({ code }, calls);
      throw error;
    };

  const acceptCall: Acceptor['call'] = async (type, { value, bytes }, origin, reserve) => {
    checkRate(origin.source, 1);
    const reading = readEvent(value, bytes, { type, receivedAt: origin.receivedAt });
    if (!reading.ok) throw new TailraceError(reading.code, reading.message);
    const record = eventRecord(names.events, reading.event, reading.json, origin);
    reserve([record], []);
    return publisher.publish(record).then(() => {
      metrics.acceptedCalls.inc({ type });
    });
  };

  /** The record of a valid call. An invalid call is added to those that were rejected. */
  const readRecord = (
    call: unknown,
    index: number,
    bodyBytes: number,
    fields: BatchFields,
    origin: Origin,
    { types, rejected }: Progress,
  ): OutgoingRecord | undefined => {
    const reading = readEvent(call, bodyBytes, { ...fields, receivedAt: origin.receivedAt });
    if (!reading.ok) {
      rejected.push(rejectionOf(index, call, reading));
      return undefined;
    }
    types.push(reading.event.type);
    return eventRecord(names.events, reading.event, reading.json, origin);
  };

  const acceptCalls = async (
    batch: Batch,
    bodyBytes: number,
    origin: Origin,
    reserve: Reserve,
  ): Promise<BatchOutcome> => {
    checkRate(origin.source, batch.calls.length);
    if (needsPortions(batch, bodyBytes)) return publishPortions(batchText(batch), bodyBytes, origin, reserve);
    const { calls, fields } = batch;
    const progress: Progress = { types: [], rejected: [] };
    const records: OutgoingRecord[] = [];
    for (const [index, call] of calls.entries()) {
      const record = readRecord(call, index, bodyBytes, fields, origin, progress);
      if (record) records.push(record);
    }
    if (records.length > 0) {
      for (const rejection of progress.rejected) {
        records.push(rejectedRecord(names.eventsRejected, calls[rejection.index], rejection, origin));
      }
    }
    reserve(records, progress.rejected);
    return publish(records, progress);
  };

  /**
   * A separate function, because variables of the functions that read the input would stay in memory while it
   * waits.
   */
  const publish = async (records: readonly OutgoingRecord[], progress: Progress): Promise<BatchOutcome> => {
    await Promise.all(records.map((record) => publisher.publish(record)));
    return outcomeOf(progress);
  };

  /**
   * Publishes the calls of `batch` in order, each portion after Kafka has acknowledged the one before, and the
   * rejected calls last. After an error the earlier portions are stored; the sender sends the whole batch again.
   */
  const publishPortions = async (
    batch: BatchText,
    bodyBytes: number,
    origin: Origin,
    reserve: Reserve,
  ): Promise<BatchOutcome> => {
    const textLength = batchTextLength(batch);
    const progress: Progress = { types: [], rejected: [] };
    for (let next = 0; next < batch.calls.length;) {
      reserve([], progress.rejected, textLength);
      const publishPortion = async (): Promise<void> => {
        const records: OutgoingRecord[] = [];
        next = readPortion(batch, next, bodyBytes, origin, progress, records);
        reserve(records, progress.rejected, textLength);
        await Promise.all(records.map((record) => publisher.publish(record)));
        // Also where there was nothing to wait for.
        await nextTurn();
      };
      await turns.take(origin.source.id, publishPortion, next > 0);
    }
    const { types, rejected } = progress;
    if (types.length > 0) {
      const records = rejected.map((rejection) =>
        rejectedRecord(
          names.eventsRejected,
          parseJson(batch.calls[rejection.index] ?? ''),
          rejection,
          origin,
        ),
      );
      reserve(records, rejected, textLength);
      await Promise.all(records.map((record) => publisher.publish(record)));
    }
    return outcomeOf(progress);
  };

  /** Adds the records of the calls from `start`. Returns the index of the first call of the next portion. */
  const readPortion = (
    batch: BatchText,
    start: number,
    bodyBytes: number,
    origin: Origin,
    progress: Progress,
    records: OutgoingRecord[],
  ): number => {
    const fields = sharedFields(batch);
    const isTooLarge = exceedsAlready(fields);
    let next = start;
    for (let length = 0; next < batch.calls.length && length < maxPortionLength; next++) {
      const text = batch.calls[next] ?? '';
      const call = parseJson(text);
      if (isTooLarge?.(call)) {
        const reading = readTooLarge(call, bodyBytes, origin.receivedAt);
        if (!reading.ok) progress.rejected.push(rejectionOf(next, call, reading));
        length += text.length;
        continue;
      }
      const record = readRecord(call, next, bodyBytes, fields, origin, progress);
      if (record) records.push(record);
      // A call that is too large with its context has been written too.
      length += record?.value?.length ?? batch.shared.length;
    }
    return next;
  };

  const outcomeOf = ({ types, rejected }: Progress): BatchOutcome => {
    const counted = types.length > 0 ? metrics.rejectedCalls : metrics.refusedCalls;
    for (const type of types) metrics.acceptedCalls.inc({ type });
    for (const { code } of rejected) counted.inc({ code });
    return { accepted: types.length, rejected };
  };

  return {
    call(type, body, origin, reserve) {
      metrics.receivedCalls.inc();
      return acceptCall(type, body, origin, reserve).catch(countRefused(1));
    },
    async batch({ value, bytes }, origin, reserve) {
      const batch = readCalls(value);
      metrics.receivedCalls.inc(batch.calls.length);
      return acceptCalls(batch, bytes, origin, reserve).catch(countRefused(batch.calls.length));
    },
  };
}
