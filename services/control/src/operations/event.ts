/** Operational events as track calls of the built-in source. docs/operational-events.md describes their properties. */
import { builtInSource } from '@tailrace/config';
import { readCall } from '@tailrace/events';
import type { ExclusiveRecord, Partitioner } from '@tailrace/kafka';
import type { ConfigChangeGroup } from './config-changes.ts';
import type { DeadLetterCount } from './dead-letters.ts';
import type { Streak } from './receiver-health.ts';

export const operationalEvents = [
  'destination.failing',
  'destination.recovered',
  'deliveries.dead',
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

export function failingEvent(destinationId: string, { attempts, since, reason }: Streak): OperationalEvent {
  const properties = { destinationId, since: isoOf(since), failedAttempts: attempts, reason };
  return {
    event: 'destination.failing',
    messageId: idOf('failing', destinationId, isoOf(since)),
    properties,
  };
}

export function recoveredEvent(
  destinationId: string,
  failingSince: string,
  { since }: Streak,
): OperationalEvent {
  return {
    event: 'destination.recovered',
    messageId: idOf('recovered', destinationId, failingSince),
    properties: { destinationId, failingSince, recoveredAt: isoOf(since) },
  };
}

export function deadEvent(
  destinationId: string,
  { count, since, until, reasons }: DeadLetterCount,
): OperationalEvent {
  return {
    event: 'deliveries.dead',
    messageId: idOf('dead', destinationId, isoOf(until)),
    properties: { destinationId, count, since: isoOf(since), until: isoOf(until), reasons },
  };
}

export function configEvent({ changeId, at, offset, counts, entries }: ConfigChangeGroup): OperationalEvent {
  return {
    event: 'config.changed',
    messageId: idOf('config', String(offset), isoOf(at)),
    properties: { changeId, changedAt: isoOf(at), ...counts, entries },
  };
}

export function eventRecord(
  topic: string,
  { event, messageId, properties }: OperationalEvent,
  partitioner: Partitioner,
): ExclusiveRecord {
  const call = { anonymousId, event, messageId, properties };
  const reading = readCall(call, {
    type: 'track',
    receivedAt: Date.now(),
    fallbackMessageId: () => messageId,
  });
  if (!reading.ok) throw new Error(reading.message);
  const headers = { 'source-id': builtInSource.id };
  const partition = partitioner.partitionOf(anonymousId);
  return { topic, partition, key: anonymousId, value: JSON.stringify(reading.event), headers };
}

function idOf(...parts: readonly string[]): string {
  return [builtInSource.id, ...parts].join('/');
}
