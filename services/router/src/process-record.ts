/**
 * Processes one record: reads it, finds its source, drops it if it is a repeat, routes the event, and publishes the
 * deliveries. The record is done once Kafka has acknowledged all of them.
 *
 * Every step up to publishing runs in one turn of the event loop, so deliveries are published in the order of their records.
 */
import type { ConfigView, Source } from '@tailrace/config';
import { isTailraceError } from '@tailrace/errors';
import { isInstant, readCall, recordMessageId } from '@tailrace/events';
import type { Publisher, TrackedRecord } from '@tailrace/kafka';
import type { FrameReader } from '@tailrace/registry';
import { lookUpSource, routeEvent, type SourceReference } from '@tailrace/routing';
import type { Log } from '@tailrace/service';
import type { TopicNames } from '@tailrace/topics';
import { limitRefreshes } from './config-refresh.ts';
import type { MessageIds } from './deduplication/message-ids.ts';
import { deliveryRecords, type DeliveryRecord } from './delivery-records.ts';
import type { RouterMetrics } from './metrics.ts';
import { readRecord } from './read-record.ts';
import { leaveUnfinished, type Rejecter, type Rejection } from './reject-record.ts';
import type { UsageCounter } from './usage.ts';

export interface ProcessorDependencies {
  readonly names: Pick<TopicNames, 'deliveries'>;
  readonly config: Pick<ConfigView, 'source' | 'sourceByWriteKey' | 'destinationsOf' | 'refresh'>;
  readonly frames: Pick<FrameReader, 'read'>;
  /** Retries without a limit while Kafka is unavailable. */
  readonly publisher: Pick<Publisher, 'publish'>;
  readonly messageIds: Pick<MessageIds, 'isRepeat'>;
  readonly metrics: RouterMetrics;
  readonly usage: Pick<UsageCounter, 'count'>;
  readonly rejecter: Pick<Rejecter, 'reject'>;
  readonly log: Pick<Log, 'warn'>;
}

export type ProcessRecord = (record: TrackedRecord) => Processing;

export type Processing =
  /** Published, rejected or dropped. Only acknowledgements by Kafka are outstanding. */
  | { readonly outcome: 'processed' }
  /** Waits for a read of the configuration; processed when `until` resolves. */
  | { readonly outcome: 'waiting'; readonly until: Promise<void> }
  /** Has to be processed again once its schema has been fetched. */
  | { readonly outcome: 'needs-schema'; readonly schemaId: number };

const processed: Processing = { outcome: 'processed' };

export function createProcessor(deps: ProcessorDependencies): ProcessRecord {
  const { names, config, frames, publisher, messageIds, metrics, usage, rejecter, log } = deps;
  const refreshedSince = limitRefreshes(() => config.refresh(), log);

  const processRecord = (record: TrackedRecord): Processing => {
    const reading = readRecord(record, frames);
    if (reading.outcome === 'needs-schema') return reading;
    if (reading.outcome === 'rejected') {
      rejecter.reject(record, reading);
      return processed;
    }
    const { call, source: reference } = reading;
    const lookup = lookUpSource(reference, config);
    if (lookup.outcome === 'enabled') {
      routeCall(record, call, lookup.source);
      return processed;
    }
    // The source may have been created or enabled a moment ago.
    const until = refreshedSince(performance.now()).then(() => {
      if (record.revoked) return;
      const lookup = lookUpSource(reference, config);
      if (lookup.outcome === 'enabled') routeCall(record, call, lookup.source);
      else rejecter.reject(record, noEnabledSource(reference));
    });
    return { outcome: 'waiting', until };
  };

  const routeCall = (record: TrackedRecord, call: unknown, source: Source): void => {
    const reading = readCall(call, {
      enriched: true,
      receivedAt: record.timestamp >= 0 && isInstant(record.timestamp) ? record.timestamp : Date.now(),
      fallbackMessageId: () => recordMessageId(record),
    });
    if (!reading.ok) {
      rejecter.reject(record, reading);
      return;
    }
    const { event } = reading;
    if (messageIds.isRepeat(record.partition, record.offset, source.id, event.messageId)) {
      metrics.duplicates.inc();
      record.done();
      return;
    }
    const routing = routeEvent(event, source, config.destinationsOf(source.id));
    metrics.countRouted(source.id, event.type);
    usage.count(source.id, event, routing.blocked);
    for (const { reason } of routing.filtered) metrics.filtered.inc({ reason });
    void publishAll(record, deliveryRecords(names.deliveries, event, source.id, routing.routed, record));
  };

  const publishAll = async (record: TrackedRecord, deliveries: readonly DeliveryRecord[]): Promise<void> => {
    const outcomes = await Promise.allSettled(
      deliveries.map(async ({ destinationId, record }) => {
        await publisher.publish(record);
        metrics.countDelivery(destinationId);
      }),
    );
    const failures = outcomes
      .filter((outcome) => outcome.status === 'rejected')
      .map(({ reason }) => reason as unknown);
    const otherFailure = failures.find((failure) => !isTailraceError(failure, 'record-too-large'));
    if (otherFailure !== undefined) leaveUnfinished(otherFailure);
    else if (failures.length > 0) rejecter.reject(record, deliveryTooLarge);
    else record.done();
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
