/**
 * Processes one record: reads it, finds its source, drops it if it is a repeat, routes the event, and publishes the
 * deliveries, and the decision where some destination gets none. The record is done once Kafka has acknowledged all of them.
 *
 * Every step up to publishing runs in one turn of the event loop, so deliveries are published in the order of their records.
 */
import type { ConfigView, Source } from '@tailrace/config';
import { isTailraceError } from '@tailrace/errors';
import { userKey, webhookDocument, type TailraceEvent } from '@tailrace/events';
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
import { leaveUnfinished, type Rejecter } from './reject-record.ts';
import { endDuplicate, endRouted, recordTraceparent, setEvent, startRouteSpan } from './route-span.ts';
import type { UsageCounter } from './usage.ts';

export interface ProcessorDependencies {
  readonly names: Pick<TopicNames, 'deliveries' | 'decisions'>;
  readonly config: Pick<
    ConfigView,
    'source' | 'sourceByWriteKey' | 'destinationsOf' | 'disabledDestinationsOf' | 'refresh'
  >;
  readonly suppressedUsers: SuppressedUsers;
  readonly frames: Pick<FrameReader, 'read'>;
  /** Retries without a limit while Kafka is unavailable. */
  readonly publisher: Pick<Publisher, 'publish'>;
  readonly messageIds: Pick<MessageIds, 'use'>;
  readonly reusedIds: Pick<ReusedIds, 'report'>;
  readonly metrics: RouterMetrics;
  readonly usage: Pick<UsageCounter, 'count'>;
  readonly rejecter: Pick<Rejecter, 'reject' | 'rejectRouted'>;
  readonly log: Pick<Log, 'warn'>;
  /** Undefined where tracing is off. */
  readonly tracing?: Tracing | undefined;
}

export type ProcessRecord = (record: TrackedRecord) => Processing;

export type Processing =
  /** Published, rejected or dropped. Only acknowledgements by Kafka are outstanding. */
  | { readonly outcome: 'processed' }
  /** Waits for a read of the configuration; processed when `until` resolves, or dropped because it was revoked. */
  | { readonly outcome: 'waiting'; readonly until: Promise<'processed' | 'revoked'> }
  /** Has to be processed again once its schema has been fetched. */
  | { readonly outcome: 'needs-schema'; readonly schemaId: number };

const processed: Processing = { outcome: 'processed' };

export function createProcessor(deps: ProcessorDependencies): ProcessRecord {
  const {
    names,
    config,
    suppressedUsers,
    frames,
    publisher,
    messageIds,
    reusedIds,
    metrics,
    usage,
    rejecter,
    log,
    tracing,
  } = deps;
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
    const routing = routeEvent(event, source, routes, webhookDocument, isSuppressed);
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
    void publishAll(
      record,
      origin.acceptedAt,
      deliveries,
      decisionRecord(record, source.id, event, routing),
      span,
    );
  };

  const publishAll = async (
    record: TrackedRecord,
    accepted: number,
    deliveries: readonly Delivery[],
    decision: OutgoingRecord | undefined,
    span: Span | undefined,
  ): Promise<void> => {
    const failures: unknown[] = [];
    const hasFailed = (failure: unknown): void => {
      failures.push(failure);
    };
    const publishing = deliveries.map((delivery) =>
      publisher
        .publish(encodeDelivery(names.deliveries, delivery))
        .then(() => metrics.countDelivery(delivery.destinationId), hasFailed),
    );
    if (decision) publishing.push(publisher.publish(decision).catch(hasFailed));
    await Promise.all(publishing);
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
      if (span) endRouted(span, deliveries.length);
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
