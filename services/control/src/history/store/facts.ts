/** Decodes records of the topics into facts. A record that cannot be decoded gives no fact. */
import { parseInstant } from '@tailrace/events';
import type { ConsumedRecord } from '@tailrace/kafka';
import {
  decodeDelivery,
  userKeyOf,
  type AttemptRecord,
  type Delivery,
  type TopicNames,
  type UrlAttempt,
  type UsageRecord,
} from '@tailrace/topics';
import type { DeliveryRow, DeliveryState } from './delivery-row.ts';

export interface AttemptRow {
  readonly deliveryId: string;
  readonly destinationId: string;
  readonly attempt: number;
  readonly startedAt: number;
  readonly latencyMs: number;
  readonly outcome: AttemptRecord['outcome'];
  readonly reason: string | null;
  readonly nextDueAt: number | null;
  readonly urls: readonly UrlAttempt[];
}

export type Fact =
  | { readonly kind: 'delivery'; readonly delivery: DeliveryRow }
  | {
      readonly kind: 'attempt';
      readonly delivery: DeliveryRow;
      readonly attempt: AttemptRow;
      readonly record: AttemptRecord;
    }
  | { readonly kind: 'usage'; readonly usage: UsageRecord };

/** The order of states of the same millisecond. */
const ranks = { placed: 0, attempted: 1, waits: 2, dead: 3 };

export function factReader(names: TopicNames): (record: ConsumedRecord) => Fact | undefined {
  return (record) => {
    if (record.topic === names.attempts) return attemptFact(parse(record) as AttemptRecord | undefined);
    if (record.topic === names.usage) return usageFact(parse(record) as UsageRecord | undefined);
    const delivery = decodeDelivery(record);
    // A malformed record by another producer; it can be read among the dead letters.
    if (typeof delivery === 'string') return undefined;
    return { kind: 'delivery', delivery: placedRow(record, delivery, names) };
  };
}

function placedRow(record: ConsumedRecord, delivery: Delivery, names: TopicNames): DeliveryRow {
  const { topic, partition, offset, timestamp } = record;
  return {
    id: delivery.deliveryId,
    eventId: delivery.eventId,
    sourceId: delivery.sourceId,
    destinationId: delivery.destinationId,
    type: delivery.type,
    event: delivery.eventName ?? null,
    userKey: userKeyOf(delivery),
    createdAt: timestamp,
    state: stateIn(topic, timestamp, delivery, names),
    place: { topic, partition, offset, placedAt: timestamp },
  };
}

function stateIn(topic: string, at: number, delivery: Delivery, names: TopicNames): DeliveryState {
  const { attempt, reason = null, dueAt: nextDueAt = null } = delivery;
  // Every other state is later, even if the clocks of two services differ.
  const fresh = { status: 'waiting', rank: ranks.placed, reason: null, nextDueAt: null } as const;
  if (topic === names.deliveries) return { ...fresh, changedAt: 0 };
  if (topic === names.deliveriesReplay) return { ...fresh, changedAt: at };
  if (topic === names.deliveriesDead) {
    return { status: 'dead', changedAt: at, rank: ranks.dead, reason, nextDueAt: null };
  }
  return {
    status: attempt > 0 ? 'retrying' : 'waiting',
    changedAt: at,
    rank: ranks.waits,
    reason,
    nextDueAt,
  };
}

const statuses = { delivered: 'delivered', retry: 'retrying', dead: 'dead' } as const;

function attemptFact(record: AttemptRecord | undefined): Fact | undefined {
  const startedAt = parseInstant(String(record?.startedAt));
  if (!record || startedAt === undefined || !Object.hasOwn(statuses, record.outcome)) return undefined;
  const { deliveryId, eventId, sourceId, destinationId, type, attempt, latencyMs, outcome, urls } = record;
  const texts = [deliveryId, eventId, sourceId, destinationId, type];
  if (!texts.every((text) => typeof text === 'string') || !Array.isArray(urls)) return undefined;
  if (!Number.isSafeInteger(attempt) || !Number.isFinite(latencyMs)) return undefined;
  const reason = record.reason ?? null;
  const nextDueAt = record.nextDueAt === undefined ? null : (parseInstant(record.nextDueAt) ?? null);
  const status = statuses[outcome];
  const changedAt = startedAt + Math.round(latencyMs);
  return {
    kind: 'attempt',
    record,
    attempt: { deliveryId, destinationId, attempt, startedAt, latencyMs, outcome, reason, nextDueAt, urls },
    delivery: {
      ...{ id: deliveryId, eventId, sourceId, destinationId, type },
      event: record.event ?? null,
      // Older records have no user key.
      userKey: typeof record.userKey === 'string' ? record.userKey : '',
      createdAt: startedAt,
      state: { status, changedAt, rank: ranks.attempted, reason, nextDueAt },
      place: null,
    },
  };
}

function usageFact(usage: UsageRecord | undefined): Fact | undefined {
  if (typeof usage?.sourceId !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(usage.day)) return undefined;
  return Array.isArray(usage.events) ? { kind: 'usage', usage } : undefined;
}

function parse({ value }: ConsumedRecord): unknown {
  try {
    const parsed: unknown = JSON.parse(value?.toString() ?? 'null');
    return typeof parsed === 'object' && parsed !== null ? parsed : undefined;
  } catch {
    return undefined;
  }
}
