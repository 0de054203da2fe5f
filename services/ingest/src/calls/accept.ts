/**
 * Turns a call, or a batch of calls, into events that Kafka has acknowledged.
 *
 * A response of 200 means that everything is stored: the valid calls as events, the invalid calls of a batch in
 * `events.rejected`. After an error the sender still owns the calls, and a bounded sample of them is kept there (refused.ts).
 */
import type { Source } from '@tailrace/config';
import { isTailraceError, TailraceError } from '@tailrace/errors';
import type { EventType } from '@tailrace/events';
import type { OutgoingRecord, Publisher } from '@tailrace/kafka';
import type { TopicNames } from '@tailrace/topology';
import type { IngestMetrics } from '../metrics.ts';
import { readCalls, type Batch } from './batch.ts';
import { createPace } from './pace.ts';
import type { RateLimits } from './rate-limit.ts';
import type { RefusedCalls } from './refused.ts';
import { createTurns } from './turns.ts';
import {
  eventRecord,
  readEvent,
  rejectedRecord,
  rejectionOf,
  withIp,
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
 * previous reservation. Throws TailraceError `overloaded` where there is not enough.
 */
export type Reserve = (records: readonly OutgoingRecord[], rejected: readonly RejectedCall[]) => void;

/** Both methods also throw TailraceError `rate-limited`, and the errors of `reserve`. They keep only strings of what they read. */
export interface Acceptor {
  /**
   * Reads `input` before it returns.
   *
   * @throws TailraceError `invalid-call`, `call-too-large`, and the errors of the publisher
   */
  call(type: EventType, input: unknown, origin: Origin, reserve: Reserve): Promise<void>;
  /**
   * Has read `body` when it resolves. With `untilNextSlice` it does so in slices, and awaits that between them; without, it reads
   * before it returns.
   *
   * @throws TailraceError `invalid-call` where it is not a batch, `batch-too-large`
   */
  batch(
    body: unknown,
    origin: Origin,
    reserve: Reserve,
    untilNextSlice?: () => Promise<void>,
  ): Promise<ReadBatch>;
}

/** A batch whose calls have been read. */
export interface ReadBatch {
  /**
   * Publishes its calls; nothing where none of them is valid.
   *
   * @throws the errors of the publisher
   */
  publish(): Promise<BatchOutcome>;
}

/** Batches whose records are longer take turns. */
const largeLength = 64 * 1024;

/** Of the records of one portion: about a request to Kafka. */
const maxPortionLength = 512 * 1024;

/** Of a portion while other sources send: what their calls wait for in each service. */
const sharedPortionLength = 16 * 1024;

/** Where Kafka takes longer for a portion, the next is twice as long. Else a batch would take too long. */
const slowPortionMs = 50;

/** Of the records that are read in one slice, which takes a millisecond or two. */
const sliceLength = 64 * 1024;

/** An invalid call takes time too. */
const callLength = 512;

/** One waits while Kafka stores the other. */
const portionsAtATime = 2;
/** So that small portions, each waiting for Kafka, do not limit what many sources send together. */
const sharedPortionsAtATime = 8;

/** What a batch uses of the allowance of its source. */
interface Cost {
  readonly source: Source;
  readonly calls: number;
  readonly bytes: number;
}

/** The calls of a batch that have been read. */
interface Progress {
  /** The types of the valid calls. */
  readonly types: EventType[];
  readonly rejected: RejectedCall[];
}

export function createAcceptor(dependencies: {
  readonly publisher: Pick<Publisher, 'publish'>;
  readonly names: Pick<TopicNames, 'events' | 'eventsRejected'>;
  readonly rateLimits: RateLimits;
  readonly refused: RefusedCalls;
  /** A batch that has waited longer for its turn is refused. */
  readonly acknowledgeWithinMs: number;
  readonly metrics: Pick<IngestMetrics, 'receivedCalls' | 'acceptedCalls' | 'rejectedCalls' | 'refusedCalls'>;
}): Acceptor {
  const { publisher, names, rateLimits, refused, acknowledgeWithinMs, metrics } = dependencies;
  const turns = createTurns(portionsAtATime);
  const sharedTurns = createTurns(sharedPortionsAtATime);
  const pace = createPace();

  const checkRate = (source: Source, calls: number, bytes: number): void => {
    const retryAfterS = rateLimits.consume(source, calls, bytes);
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

  const acceptCall: Acceptor['call'] = async (type, input, origin, reserve) => {
    checkRate(origin.source, 1, origin.bodyBytes);
    const { bodyBytes, receivedAt, ip } = origin;
    const reading = readEvent(input, bodyBytes, { type, receivedAt, ...withIp({}, ip) });
    if (!reading.ok) {
      refused.keep(origin.source, reading, { call: input, type });
      throw new TailraceError(reading.code, reading.message);
    }
    const record = eventRecord(names.events, reading.event, reading.json, origin);
    reserve([record], []);
    return publisher.publish(record).then(() => metrics.acceptedCalls.inc({ type }));
  };

  const readBatch = async (
    { calls, eventBytes, fields: sent }: Batch,
    origin: Origin,
    reserve: Reserve,
    untilNextSlice?: () => Promise<void>,
  ): Promise<ReadBatch> => {
    checkRate(origin.source, calls.length, eventBytes);
    const fields = withIp(sent, origin.ip);
    const progress: Progress = { types: [], rejected: [] };
    const records: OutgoingRecord[] = [];
    let length = 0;
    for (const [index, call] of calls.entries()) {
      if (untilNextSlice && length > sliceLength) {
        await untilNextSlice();
        length = 0;
      }
      const reading = readEvent(call, origin.bodyBytes, { ...fields, receivedAt: origin.receivedAt });
      length += callLength;
      if (!reading.ok) {
        progress.rejected.push(rejectionOf(index, call, reading));
        continue;
      }
      length += reading.json.length;
      progress.types.push(reading.event.type);
      records.push(eventRecord(names.events, reading.event, reading.json, origin));
    }
    const hasEvents = records.length > 0;
    for (const rejection of progress.rejected) {
      const call = calls[rejection.index];
      if (hasEvents) records.push(rejectedRecord(names.eventsRejected, call, rejection, origin));
      else refused.keep(origin.source, rejection, { call });
    }
    reserve(records, progress.rejected);
    return publishing(records, progress, { source: origin.source, calls: calls.length, bytes: eventBytes });
  };

  /** Apart from the function that reads, so that its closure keeps no input in memory. */
  const publishing = (records: readonly OutgoingRecord[], progress: Progress, cost: Cost): ReadBatch => {
    const failed = countRefused(progress.types.length + progress.rejected.length);
    return {
      publish() {
        const isLarge = lengthOf(records) > largeLength;
        const published = isLarge ? publishPortions(records, cost) : publishAll(records);
        return published.then(() => outcomeOf(progress)).catch(failed);
      },
    };
  };

  /**
   * Publishes in order, each portion once Kafka has acknowledged the one before. While other sources send, the portions are spread
   * over the time that the batch takes at the limits of its source. After an error the earlier portions are stored; the
   * sender sends the whole batch again.
   */
  const publishPortions = async (
    records: readonly OutgoingRecord[],
    { source, calls, bytes }: Cost,
  ): Promise<void> => {
    const giveUpAt = performance.now() + acknowledgeWithinMs;
    // The sender waits for all of it.
    const takesMs = rateLimits.durationS(source, calls, bytes) * 1_000;
    const durationMs = Math.min(takesMs, acknowledgeWithinMs / 10);
    const isShared = durationMs > 0;
    const portionTurns = isShared ? sharedTurns : turns;
    let maxLength = isShared ? sharedPortionLength : maxPortionLength;
    for (let from = 0; from < records.length;) {
      const portion = portionFrom(records, from, maxLength);
      await pace(source.id, (durationMs * portion.length) / records.length);
      const publishPortion = async (): Promise<void> => {
        const startedAt = performance.now();
        if (startedAt > giveUpAt) throw new TailraceError('kafka-unavailable');
        await publishAll(portion);
        if (performance.now() - startedAt > slowPortionMs)
          maxLength = Math.min(2 * maxLength, maxPortionLength);
      };
      await portionTurns.take(source.id, publishPortion, from > 0);
      from += portion.length;
    }
  };

  const publishAll = async (records: readonly OutgoingRecord[]): Promise<void> => {
    await Promise.all(records.map((record) => publisher.publish(record)));
  };

  const outcomeOf = ({ types, rejected }: Progress): BatchOutcome => {
    const counted = types.length > 0 ? metrics.rejectedCalls : metrics.refusedCalls;
    for (const type of types) metrics.acceptedCalls.inc({ type });
    for (const { code } of rejected) counted.inc({ code });
    return { accepted: types.length, rejected };
  };

  const readCallsOf = (body: unknown, { source, bodyBytes }: Origin): Batch => {
    try {
      return readCalls(body, bodyBytes);
    } catch (error) {
      if (isTailraceError(error)) refused.keep(source, error);
      throw error;
    }
  };

  return {
    call(type, input, origin, reserve) {
      metrics.receivedCalls.inc();
      return acceptCall(type, input, origin, reserve).catch(countRefused(1));
    },
    async batch(body, origin, reserve, untilNextSlice) {
      const batch = readCallsOf(body, origin);
      metrics.receivedCalls.inc(batch.calls.length);
      return readBatch(batch, origin, reserve, untilNextSlice).catch(countRefused(batch.calls.length));
    },
  };
}

function lengthOf(records: readonly OutgoingRecord[]): number {
  return records.reduce((length, { value }) => length + (value?.length ?? 0), 0);
}

/** The records from `from` until they have `maxLength` or more; at least one. */
function portionFrom(
  records: readonly OutgoingRecord[],
  from: number,
  maxLength: number,
): readonly OutgoingRecord[] {
  let length = 0;
  let to = from;
  while (to < records.length && length < maxLength) length += records[to++]?.value?.length ?? 0;
  return records.slice(from, to);
}
