/** Operational events as track calls of the built-in source. README.md describes their properties. */
import { builtInSource } from '@tailrace/config';
import type { ExclusiveRecord, Partitioner } from '@tailrace/kafka';
import { callRecord } from '../records/call.ts';
import type { ConfigChangeGroup } from './config-changes.ts';
import type { DeadLetterCount } from './dead-letters.ts';
import type { Streak } from './receiver-health.ts';
import type { TransformFailures } from './transform-failures.ts';

const operationalEvents = [
  'destination.failing',
  'destination.recovered',
  'destination.disabling',
  'destination.disabled',
  'destination.enabled',
  'deliveries.dead',
  'transform.failing',
  'config.changed',
] as const;

export interface OperationalEvent {
  readonly event: (typeof operationalEvents)[number];
  /** Unique: a copy of the event is dropped by the router. */
  readonly messageId: string;
  readonly properties: object;
}

/** The anonymous id of all events, by which they are in one partition and in order. */
const anonymousId = builtInSource.id;
const isoOf = (ms: number): string => new Date(ms).toISOString();

/** @param parts of the id of the event, after the name of the source */
function newEvent(
  event: OperationalEvent['event'],
  parts: readonly string[],
  properties: object,
): OperationalEvent {
  return { event, messageId: [builtInSource.id, ...parts].join('/'), properties };
}

export function failingEvent(destinationId: string, { attempts, since, reason }: Streak): OperationalEvent {
  const properties = { destinationId, since: isoOf(since), failedAttempts: attempts, reason };
  return newEvent('destination.failing', ['failing', destinationId, isoOf(since)], properties);
}

export function recoveredEvent(
  destinationId: string,
  failingSince: string,
  { since }: Streak,
): OperationalEvent {
  const properties = { destinationId, failingSince, recoveredAt: isoOf(since) };
  return newEvent('destination.recovered', ['recovered', destinationId, failingSince], properties);
}

/** Times are milliseconds since the epoch; it is disabled at `disablesAt` at the earliest. */
export interface Disabling {
  /** Of the entry. */
  readonly version: number;
  readonly since: number;
  readonly disablesAt: number;
  readonly reason: string | null;
}

export function disablingEvent(
  destinationId: string,
  { version, since, disablesAt, reason }: Disabling,
): OperationalEvent {
  const failingSince = isoOf(since);
  const parts = ['disabling', destinationId, String(version), failingSince];
  const properties = { destinationId, failingSince, disablesAt: isoOf(disablesAt), reason };
  return newEvent('destination.disabling', parts, properties);
}

/** @param failingSince where its attempts had only failed for `disableAfter` */
export function disabledEvent(
  destinationId: string,
  disabledAt: string,
  failingSince: string | undefined,
): OperationalEvent {
  const properties = { destinationId, disabledAt, failingSince };
  return newEvent('destination.disabled', ['disabled', destinationId, disabledAt], properties);
}

export function enabledEvent(destinationId: string, disabledSince: string): OperationalEvent {
  return newEvent('destination.enabled', ['enabled', destinationId, disabledSince], {
    destinationId,
    disabledSince,
  });
}

export function deadEvent(
  destinationId: string,
  { count, since, until, reasons }: DeadLetterCount,
): OperationalEvent {
  const properties = { destinationId, count, since: isoOf(since), until: isoOf(until), reasons };
  return newEvent('deliveries.dead', ['dead', destinationId, isoOf(until)], properties);
}

export function transformFailingEvent(
  destinationId: string,
  { failures, since }: TransformFailures,
): OperationalEvent {
  const properties = { destinationId, since: isoOf(since), failures };
  return newEvent('transform.failing', ['transform', destinationId, isoOf(since)], properties);
}

export function configEvent({ changeId, at, offset, counts, entries }: ConfigChangeGroup): OperationalEvent {
  const properties = { changeId, changedAt: isoOf(at), ...counts, entries };
  return newEvent('config.changed', ['config', String(offset), isoOf(at)], properties);
}

export function eventRecord(
  topic: string,
  { event, messageId, properties }: OperationalEvent,
  partitioner: Partitioner,
): ExclusiveRecord {
  const call = { anonymousId, event, messageId, properties };
  const record = callRecord(topic, builtInSource.id, call, { type: 'track', receivedAt: Date.now() });
  return { ...record, partition: partitioner.partitionOf(anonymousId) };
}
