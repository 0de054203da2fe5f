/**
 * Processes one record: reads it, finds its source, drops it if it is a repeat, routes the event, and publishes the
 * deliveries, and the decision where some destination gets none. The record is done once Kafka has acknowledged all of them.
 *
 * Every step up to publishing runs in one turn of the event loop, so deliveries are published in the order of their records. Those that
 * wait for a transform are published later, in the order of their destination, and no others wait for them.
 */
import type { ConfigView, Destination, Source } from '@tailrace/config';
import { isTailraceError } from '@tailrace/errors';
import { userKey, type TailraceEvent } from '@tailrace/events';
import type { OutgoingRecord, Publisher, TrackedRecord } from '@tailrace/kafka';
import type { FrameReader } from '@tailrace/registry';
import {
  acceptedAt,
  contentHashOf,
  createRoutes,
  deliveriesOf,
  lookUpSource,
  readEvent,
  readRecord,
  routeEvent,
  type FilteredDestinations,
  type ReadRecord,
  type Rejection,
  type Routing,
  type SourceReference,
} from '@tailrace/routing';
import type { Log } from '@tailrace/service';
import type { Span, Tracing } from '@tailrace/tracing';
import { encodeDecision, encodeDelivery, type Delivery } from '@tailrace/records';
import type { SuppressedUsers } from '@tailrace/suppressions';
import type { TopicNames } from '@tailrace/topology';
import { limitRefreshes } from './config-refresh.ts';
import type { MessageIds } from './deduplication/message-ids.ts';
import type { ReusedIds } from './deduplication/reused-ids.ts';
import type { RouterMetrics } from './metrics.ts';
import { turnsOf } from './receive/source-turns.ts';
import { withOwnBytes } from './record-content.ts';
import { leaveUnfinished, type Rejecter } from './reject-record.ts';
import { endDuplicate, endRouted, recordTraceparent, setEvent, startRouteSpan } from './route-span.ts';
import type { TransformStage } from './transform-stage.ts';
import type { UsageCounter } from './usage.ts';

export interface ProcessorDependencies {
  readonly config: Pick<
    ConfigView,
    'source' | 'sourceByWriteKey' | 'destinationsOf' | 'disabledDestinationsOf' | 'refresh'
  >;
  readonly suppressedUsers: SuppressedUsers;
  readonly frames: Pick<FrameReader, 'read'>;
  readonly messageIds: Pick<MessageIds, 'use'>;
  readonly transformStage: Pick<TransformStage, 'make' | 'waiting'>;
  readonly output: {
    readonly names: Pick<TopicNames, 'deliveries' | 'decisions'>;
    /** Retries without a limit while Kafka is unavailable. */
    readonly publisher: Pick<Publisher, 'publish'>;
    readonly rejecter: Pick<Rejecter, 'reject' | 'rejectRouted'>;
  };
  readonly report: {
    readonly metrics: RouterMetrics;
    readonly usage: Pick<UsageCounter, 'count'>;
    readonly reusedIds: Pick<ReusedIds, 'report'>;
    readonly log: Pick<Log, 'warn'>;
    /** Undefined where tracing is off. */
    readonly tracing?: Tracing | undefined;
  };
}

export type ProcessRecord = (record: TrackedRecord) => Processing;

type Processing =
  /** Published, rejected or dropped. Only acknowledgements by Kafka are outstanding. */
  | { readonly outcome: 'processed' }
  /** Waits for a read of the configuration; processed when `until` resolves, or dropped because it was revoked. */
  | { readonly outcome: 'waiting'; readonly until: Promise<'processed' | 'revoked'> }
  /** Has to be processed again once its schema has been fetched. */
  | { readonly outcome: 'needs-schema'; readonly schemaId: number };

const processed: Processing = { outcome: 'processed' };

/** An event that has been routed. */
interface Routed {
  /** When the event was accepted, in milliseconds since the epoch. */
  readonly accepted: number;
  readonly sourceId: string;
  readonly event: TailraceEvent;
  readonly routing: Routing;
  readonly span: Span | undefined;
}

export function createProcessor(deps: ProcessorDependencies): ProcessRecord {
  const { config, suppressedUsers, frames, messageIds, transformStage } = deps;
  const { names, publisher, rejecter } = deps.output;
  const { metrics, usage, reusedIds, log, tracing } = deps.report;
  const routesOf = createRoutes(config);
  const refreshedSince = limitRefreshes(() => config.refresh(), log);

  const processRecord = (record: TrackedRecord): Processing => {
    const reading = readRecord(record, frames);
    if (reading.outcome === 'needs-schema') return reading;
    if (reading.outcome === 'rejected') {
      rejecter.reject(record, reading);
      return processed;
    }
    const { source: reference } = reading;
    const lookup = lookUpSource(reference, config);
    if (lookup.outcome === 'enabled') {
      routeCall(record, reading, lookup.source);
      return processed;
    }
    // The source may have been created or enabled a moment ago.
    const until = refreshedSince(performance.now()).then(() => {
      if (record.revoked) return 'revoked';
      const lookup = lookUpSource(reference, config);
      if (lookup.outcome === 'enabled') routeCall(record, reading, lookup.source);
      else rejecter.reject(record, noEnabledSource(reference));
      return 'processed';
    });
    return { outcome: 'waiting', until };
  };

  const routeCall = (record: TrackedRecord, read: ReadRecord, source: Source): void => {
    const span = tracing && startRouteSpan(tracing, record);
    const reading = readEvent(record, read);
    if (!reading.ok) {
      rejecter.reject(record, reading, span);
      return;
    }
    const { event } = reading;
    if (span) setEvent(span, event, source.id);
    const contentHash = contentHashOf(read.json, event);
    const idUse = messageIds.use(record, source.id, event.messageId, contentHash);
    if (idUse === 'repeat') {
      metrics.duplicates.inc();
      if (span) endDuplicate(span);
      record.done();
      return;
    }
    if (idUse === 'reused') reusedIds.report(source.id, event.messageId);
    const routes = routesOf(source.id);
    const isSuppressed = event.userId !== undefined && suppressedUsers.isSuppressed(event.userId);
    const routing = routeEvent(event, source, routes, isSuppressed);
    metrics.countRouted(source.id, event.type, routes.connected);
    usage.count(source.id, event, routing.blocked);
    for (const { reason, destinations } of routing.filtered) {
      metrics.filtered.inc({ reason }, destinations.length);
    }
    const origin = {
      sourceId: source.id,
      position: record,
      contentHash,
      acceptedAt: acceptedAt(Date.parse(event.receivedAt), record.timestamp, Date.now()),
      traceparent: span ? span.traceparent : recordTraceparent(record),
    };
    const deliveries = deliveriesOf(event, origin, routing.routed);
    const routed = { accepted: origin.acceptedAt, sourceId: source.id, event, routing, span };
    if (!routes.transforms && transformStage.waiting === 0) {
      void publishAll(record, deliveries, routed);
      return;
    }
    const made = routing.routed.flatMap((destination, index) => {
      const delivery = deliveries[index];
      return delivery ? [transformStage.make(delivery, destination, turnsOf(record, source.id))] : [];
    });
    // Where it waits, the record is kept for longer than the fetch that it is a part of.
    const own = made.some(isWaiting) ? withOwnBytes(record).record : record;
    void publishAll(own, made, routed);
  };

  const publishAll = async (
    record: TrackedRecord,
    made: readonly (Delivery | Promise<Delivery | undefined>)[],
    { accepted, sourceId, event, routing, span }: Routed,
  ): Promise<void> => {
    const failures: unknown[] = [];
    const hasFailed = (failure: unknown): void => {
      failures.push(failure);
    };
    const publish = (delivery: Delivery): Promise<void> =>
      publisher
        .publish(encodeDelivery(names.deliveries, delivery))
        .then(() => metrics.countDelivery(delivery.destinationId), hasFailed);
    const nulls = new Set<Destination>();
    const publishing = made.map((one, index) =>
      one instanceof Promise
        ? one.then((delivery) => {
            // The new owner of its partition makes it again, and may have published later ones of its user.
            if (record.revoked) return undefined;
            const destination = routing.routed[index];
            if (!delivery && destination) nulls.add(destination);
            return delivery && publish(delivery);
          })
        : publish(one),
    );
    const publishDecision = (routing: Routing): Promise<void> | undefined => {
      const decision = decisionRecord(record, sourceId, event, routing);
      return decision && publisher.publish(decision).catch(hasFailed);
    };
    const isDecided = !made.some(isWaiting);
    await Promise.all([...publishing, ...(isDecided ? [publishDecision(routing)] : [])]);
    if (!isDecided && record.revoked) return;
    if (nulls.size > 0) metrics.filtered.inc({ reason: 'transform' }, nulls.size);
    if (!isDecided) await publishDecision(withNulls(routing, nulls));
    const otherFailure = failures.find((failure) => !isTailraceError(failure, 'record-too-large'));
    if (otherFailure !== undefined) {
      leaveUnfinished(otherFailure);
      return;
    }
    if (failures.length > 0) {
      metrics.filtered.inc({ reason: 'record-too-large' }, failures.length);
      rejecter.rejectRouted(record, deliveryTooLarge, span);
    } else {
      record.done();
      if (span) endRouted(span, made.length - nulls.size);
    }
    metrics.observeDelay(Date.now() - accepted);
  };

  /** Undefined where the deliveries say everything: each connected destination gets one. */
  const decisionRecord = (
    record: TrackedRecord,
    sourceId: string,
    event: TailraceEvent,
    { outcome, routed, filtered }: Routing,
  ): OutgoingRecord | undefined => {
    if (outcome === 'routed' && filtered.length === 0) return undefined;
    const { messageId: eventId, type, event: name } = event;
    const decidedAt = Date.now();
    const decision = { eventId, sourceId, type, event: name, decidedAt, routed: routed.length, filtered };
    return encodeDecision(names.decisions, userKey(event), decision, record);
  };

  return processRecord;
}

function isWaiting(made: unknown): boolean {
  return made instanceof Promise;
}

/** The routing without the destinations whose transform returned null. */
function withNulls(routing: Routing, nulls: ReadonlySet<Destination>): Routing {
  if (nulls.size === 0) return routing;
  const routed = routing.routed.filter((destination) => !nulls.has(destination));
  const filtered = Array.from(nulls, (destination): FilteredDestinations => {
    const rule = { path: 'transform', text: `version ${destination.transform?.version ?? 1}` };
    return { reason: 'transform', rule, destinations: [destination] };
  });
  const outcome = routed.length > 0 ? 'routed' : 'filtered';
  return { ...routing, outcome, routed, filtered: [...routing.filtered, ...filtered] };
}

const deliveryTooLarge: Rejection = {
  code: 'record-too-large',
  message:
    'The event was not delivered to every destination, because a delivery is larger than Kafka accepts. ' +
    'Raise max.message.bytes of the topic deliveries, or send less.',
};

function noEnabledSource({ by, value }: SourceReference): Rejection {
  // A write key is a secret and is not quoted. An id from outside may have any length.
  return by === 'write-key'
    ? { code: 'unknown-write-key', message: 'No enabled source has the write key of the record.' }
    : { code: 'unknown-source', message: `No enabled source has the id ${value.slice(0, 64)}.` };
}
