/**
 * What the router does with one record: read it, find its source, drop it if it is a repeat, route it, publish its
 * deliveries; and only when Kafka has acknowledged all of them is the record done.
 *
 * Everything up to publishing happens in one turn of the event loop, so deliveries are published in the order of
 * their records. Where the source is unknown, the record waits for an update of the configuration, and where its schema
 * is, for the first answer of the registry; the later records of its key wait with it, and no others. Where the registry
 * does not give the schema, the record waits in a topic of its own (waiting.ts).
 */
import type { ConfigView, Destination, Source } from '@tailrace/config';
import { isTailraceError } from '@tailrace/errors';
import {
  deliveryId,
  isInstant,
  readCall,
  recordMessageId,
  userKey,
  webhookBody,
  type TailraceEvent,
} from '@tailrace/events';
import { type OutgoingRecord, type Publisher, type RecordHeader, type TrackedRecord } from '@tailrace/kafka';
import type { FrameReader } from '@tailrace/registry';
import { lookUpSource, routeEvent, type SourceReference } from '@tailrace/routing';
import { deliveryKey, encodeDelivery, type TopicNames } from '@tailrace/topics';
import type { Log } from '@tailrace/service';
import { acceptedAt } from './accepted-at.ts';
import type { Dedupe } from './dedupe.ts';
import { limitRefreshes } from './freshness.ts';
import type { RouterObserver } from './observe.ts';
import { isTooLarge, readRecord } from './read-record.ts';
import { rejectedRecord, rejectedStub, type Rejection } from './rejected.ts';
import { createTurns } from './turns.ts';
import { trackedRecord } from './tracked-record.ts';
import type { UsageCounter } from './usage.ts';
import type { WaitingRoom } from './waiting.ts';

export interface RouterDependencies {
  readonly names: Pick<TopicNames, 'deliveries' | 'eventsRejected'>;
  readonly config: Pick<ConfigView, 'source' | 'sourceByWriteKey' | 'destinationsOf' | 'refresh'>;
  readonly frames: FrameReader;
  /** Tries for ever: an event is never given up because Kafka is away. */
  readonly publisher: Pick<Publisher, 'publish'>;
  readonly dedupe: Dedupe;
  readonly observer: RouterObserver;
  readonly usage: Pick<UsageCounter, 'count'>;
  readonly waiting: Pick<WaitingRoom, 'holds' | 'park'>;
  readonly log: Pick<Log, 'warn' | 'debug'>;
}

export interface Router {
  /** Takes a record of `events`, in the order of its partition. */
  readonly take: (record: TrackedRecord) => void;
  /** Routes a record, unless its schema has to be asked for. */
  readonly start: (record: TrackedRecord) => Step;
  readonly reject: (record: TrackedRecord, rejection: Rejection) => void;
}

export type Step =
  /** All that is left to wait for is Kafka. */
  | { readonly outcome: 'started' }
  /** It goes on by itself, and has started when this resolves. */
  | { readonly outcome: 'waits'; readonly until: Promise<void> }
  | { readonly outcome: 'needs-schema'; readonly schemaId: number };

const started: Step = { outcome: 'started' };

export function createRouter(deps: RouterDependencies): Router {
  const { names, config, frames, publisher, dedupe, observer, usage, waiting, log } = deps;
  const freshAsOf = limitRefreshes(() => config.refresh(), log);
  const takeTurn = createTurns();

  const take = (record: TrackedRecord): Promise<void> | undefined => {
    if (record.revoked) return undefined;
    // One that is too large is rejected wherever it is read, and might not fit where it would wait.
    if (waiting.holds(record) && !isTooLarge(record)) {
      park(record);
      return undefined;
    }
    const step = start(record);
    if (step.outcome === 'needs-schema') return askAndStart(detach(record), step.schemaId);
    return step.outcome === 'waits' ? step.until : undefined;
  };

  const askAndStart = async (record: TrackedRecord, schemaId: number): Promise<void> => {
    const isKnown = await frames.ask(schemaId);
    if (record.revoked) return;
    if (!isKnown) {
      park(record);
      return;
    }
    const step = start(record);
    if (step.outcome === 'needs-schema') await askAndStart(record, step.schemaId);
    if (step.outcome === 'waits') await step.until;
  };

  const park = (record: TrackedRecord): void => {
    waiting
      .park(record)
      .then(() => {
        record.done();
      })
      .catch((failure: unknown) => {
        if (isTailraceError(failure, 'record-too-large')) {
          reject(record, { code: 'record-too-large', message: waitingTooLarge });
        } else {
          leaveUnfinished(failure);
        }
      });
  };

  const start = (record: TrackedRecord): Step => {
    const reading = readRecord(record, frames);
    if (reading.outcome === 'needs-schema') return reading;
    if (reading.outcome === 'rejected') {
      reject(record, reading);
      return started;
    }
    const { call, source: reference } = reading;
    const source = enabledSource(reference);
    if (source) {
      routeCall(record, call, source);
      return started;
    }
    const until = freshAsOf(performance.now()).then(() => {
      if (record.revoked) return;
      const source = enabledSource(reference);
      if (source) routeCall(record, call, source);
      else reject(record, unknownSource(reference));
    });
    return { outcome: 'waits', until };
  };

  const enabledSource = (reference: SourceReference): Source | undefined => {
    const lookup = lookUpSource(reference, config);
    return lookup.outcome === 'enabled' ? lookup.source : undefined;
  };

  const routeCall = (record: TrackedRecord, call: unknown, source: Source): void => {
    const reading = readCall(call, {
      enriched: true,
      receivedAt: record.timestamp >= 0 && isInstant(record.timestamp) ? record.timestamp : Date.now(),
      fallbackMessageId: () => recordMessageId(record),
    });
    if (!reading.ok) {
      reject(record, reading);
      return;
    }
    const { event } = reading;
    if (dedupe.isRepeat(record.partition, record.offset, source.id, event.messageId)) {
      observer.repeated();
      record.done();
      return;
    }
    observer.accepted(source.id, event.type);
    const routing = routeEvent(event, source, config.destinationsOf(source.id));
    usage.count(source.id, event, routing.blocked);
    for (const { reason } of routing.filtered) observer.filtered(reason);
    void finish(record, publishDeliveries(record, event, source, routing.routed));
  };

  const publishDeliveries = (
    record: TrackedRecord,
    event: TailraceEvent,
    source: Source,
    destinations: readonly Destination[],
  ): readonly Promise<void>[] => {
    if (destinations.length === 0) return [];
    const body = Buffer.from(webhookBody(event));
    const accepted = acceptedAt(Date.parse(event.receivedAt), record.timestamp, Date.now());
    return destinations.map(({ id }) =>
      publisher.publish(deliveryRecord(record, event, source, id, body, accepted)).then(() => {
        observer.created(id);
      }),
    );
  };

  const deliveryRecord = (
    record: TrackedRecord,
    event: TailraceEvent,
    source: Source,
    destinationId: string,
    body: Buffer,
    acceptedAt: number,
  ): OutgoingRecord =>
    encodeDelivery(names.deliveries, {
      deliveryId: deliveryId(source.id, event.messageId, destinationId),
      eventId: event.messageId,
      sourceId: source.id,
      destinationId,
      type: event.type,
      eventName: event.type === 'track' ? event.event : undefined,
      acceptedAt,
      attempt: 0,
      step: 0,
      deferrals: 0,
      closedUrls: [],
      traceparent: record.headers['traceparent']?.toString(),
      key: deliveryKey(destinationId, userKey(event)),
      body,
    });

  /** Ends the record once all that it caused is acknowledged. */
  const finish = async (record: TrackedRecord, published: readonly Promise<void>[]): Promise<void> => {
    const failures = (await Promise.allSettled(published))
      .filter(({ status }) => status === 'rejected')
      .map((outcome) => (outcome as PromiseRejectedResult).reason as unknown);
    const fatal = failures.find((failure) => !isTailraceError(failure, 'record-too-large'));
    if (fatal !== undefined) leaveUnfinished(fatal);
    else if (failures.length === 0) record.done();
    else reject(record, { code: 'record-too-large', message: deliveryTooLarge });
  };

  const reject = (record: TrackedRecord, rejection: Rejection): void => {
    const { topic, partition, offset } = record;
    log.debug({ topic, partition, offset, code: rejection.code }, rejection.message);
    const publish = (rejected: OutgoingRecord): Promise<void> =>
      publisher.publish(rejected).then(() => {
        observer.rejected(rejection.code);
        record.done();
      });
    publish(rejectedRecord(names.eventsRejected, record, rejection))
      .catch((failure: unknown) => {
        if (!isTailraceError(failure, 'record-too-large')) throw failure;
        log.warn({ topic, partition, offset }, 'a rejected record is too large to be kept whole');
        return publish(rejectedStub(names.eventsRejected, record, rejection));
      })
      .catch(leaveUnfinished);
  };

  return {
    take(record) {
      takeTurn(keyOf(record), () => take(record));
    },
    start,
    reject,
  };
}

const deliveryTooLarge =
  'The webhook was not delivered to every destination: Kafka refuses a record of its size. ' +
  'Raise max.message.bytes of the topic deliveries, or send less.';

const waitingTooLarge =
  'The record cannot wait for its schema: Kafka refuses a record of its size. ' +
  'Raise max.message.bytes of the topic events.waiting, or send less.';

/** While stopping, what is unfinished is left for whoever reads the partition next; all else is a defect. */
function leaveUnfinished(failure: unknown): void {
  if (!isTailraceError(failure, 'shutting-down')) throw failure;
}

function unknownSource({ by, value }: SourceReference): Rejection {
  // A write key is a secret, and an id from outside may be of any length.
  return by === 'write-key'
    ? { code: 'unknown-write-key', message: 'No enabled source has the write key that the record names.' }
    : { code: 'unknown-source', message: `There is no enabled source with the id ${value.slice(0, 64)}.` };
}

/** The record with bytes of its own: those it came with are a slice of all that was fetched with it. */
function detach({ work, key, value, headerList }: TrackedRecord): TrackedRecord {
  const { topic, partition, offset, timestamp } = work;
  return trackedRecord(work, {
    ...{ topic, partition, offset, timestamp },
    key: key && Buffer.from(key),
    value: value && Buffer.from(value),
    headerList: headerList.map(([name, header]): RecordHeader => [name, header && Buffer.from(header)]),
  });
}

/** Works of different keys need no order; nor do records without a key, which have none in Kafka either. */
function keyOf({ partition, key }: TrackedRecord): string | undefined {
  return key === null ? undefined : `${partition}/${key.toString('latin1')}`;
}
