/**
 * Decodes records of the topics into facts. A record that cannot be decoded gives no fact. Texts are bounded here, because
 * clients choose their lengths.
 */
import { readDeadLetter, type DeadLetterSummary } from '@tailrace/deadletters';
import { parseInstant } from '@tailrace/events';
import type { ConsumedRecord } from '@tailrace/kafka';
import {
  bounded,
  boundedOrNull,
  decodeDecision,
  decodeDelivery,
  exchangesHeader,
  objectIn,
  parsePosition,
  replayedByHeader,
  userKeyOf,
  withExchanges,
  type AttemptRecord,
  type Decision,
  type Delivery,
  type RecordPosition,
  type UrlAttempt,
  type UsageRecord,
} from '@tailrace/records';
import type { TopicNames } from '@tailrace/topology';
import { ranks, type DeliveryRow, type DeliveryState } from './delivery-row.ts';

/** Whether a record adds a delivery to the backlog of its destination, or ends one. */
export type BacklogChange = 'added' | 'ended';

/** A record of the replay topic that was made from a dead letter. */
export interface LetterReplay extends RecordPosition {
  readonly deliveryId: string;
}

/** A delivery was replayed or resent. */
export interface Resend {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Null where it is not known. */
  readonly by: string | null;
}

export interface AttemptRow {
  readonly deliveryId: string;
  readonly destinationId: string;
  readonly attempt: number;
  readonly startedAt: number;
  readonly latencyMs: number;
  readonly outcome: AttemptRecord['outcome'];
  readonly reason: string | null;
  readonly nextDueAt: number | null;
  /** Not stored with the attempt: see breakers.ts. */
  readonly breakerOpenSince?: number | null;
  readonly urls: readonly UrlAttempt[];
}

export interface StoredDecision extends Decision {
  readonly userKey: string;
}

export type Fact =
  | {
      readonly kind: 'delivery';
      readonly delivery: DeliveryRow;
      /** Undefined for a record of a retry topic. */
      readonly backlog: BacklogChange | undefined;
      /** Of a record of the replay topic. */
      readonly resend: Resend | undefined;
    }
  | {
      readonly kind: 'attempt';
      readonly delivery: DeliveryRow;
      readonly attempt: AttemptRow;
      readonly record: AttemptRecord;
      /** Of the record in Kafka. */
      readonly bytes: number;
      readonly position: RecordPosition;
    }
  | { readonly kind: 'dead-letter'; readonly letter: DeadLetterSummary }
  | { readonly kind: 'replay'; readonly replay: LetterReplay }
  | { readonly kind: 'decision'; readonly decision: StoredDecision }
  | { readonly kind: 'usage'; readonly usage: UsageRecord; readonly at: number };

/** Reads the facts of a record, which may be several. */
export function factReader(names: TopicNames): (record: ConsumedRecord) => readonly Fact[] {
  return (record) => {
    if (record.topic === names.attempts) return attemptFact(record);
    if (record.topic === names.usage)
      return usageFact(objectIn<UsageRecord>(record.value) as UsageRecord | undefined, record.timestamp);
    if (record.topic === names.decisions) return decisionFact(record);
    const facts: Fact[] = [];
    if (record.topic === names.deliveriesDead) {
      facts.push({ kind: 'dead-letter', letter: readDeadLetter(record, false).summary });
    }
    const delivery = decodeDelivery(record);
    // A malformed record by another producer is at most a dead letter.
    if (typeof delivery === 'string') return facts;
    const replayed = record.topic === names.deliveriesReplay && parsePosition(delivery.replayedFrom);
    if (replayed) {
      facts.push({ kind: 'replay', replay: { ...replayed, deliveryId: delivery.deliveryId } });
    }
    facts.push({
      kind: 'delivery',
      delivery: placedRow(record, delivery, names),
      backlog: backlogChange(record.topic, names),
      resend: record.topic === names.deliveriesReplay ? resendIn(record) : undefined,
    });
    return facts;
  };
}

function resendIn({ timestamp, headers }: ConsumedRecord): Resend {
  return { at: timestamp, by: boundedOrNull(headers[replayedByHeader]?.toString()) };
}

function backlogChange(topic: string, names: TopicNames): BacklogChange | undefined {
  if (topic === names.deliveriesDead) return 'ended';
  return topic === names.deliveries || topic === names.deliveriesReplay ? 'added' : undefined;
}

function decisionFact(record: ConsumedRecord): readonly Fact[] {
  const decision = decodeDecision(record);
  return decision
    ? [{ kind: 'decision', decision: { ...decision, userKey: record.key?.toString() ?? '' } }]
    : [];
}

function placedRow(record: ConsumedRecord, delivery: Delivery, names: TopicNames): DeliveryRow {
  const { topic, partition, offset, timestamp } = record;
  return {
    id: bounded(delivery.deliveryId),
    eventId: bounded(delivery.eventId),
    sourceId: bounded(delivery.sourceId),
    destinationId: bounded(delivery.destinationId),
    type: bounded(delivery.type),
    event: boundedOrNull(delivery.eventName),
    userKey: bounded(userKeyOf(delivery)),
    createdAt: timestamp,
    state: stateIn(topic, timestamp, delivery, names),
    // All others follow it, even if the clocks of two services differ.
    place: { topic, partition, offset, placedAt: topic === names.deliveries ? 0 : timestamp },
  };
}

function stateIn(topic: string, at: number, delivery: Delivery, names: TopicNames): DeliveryState {
  const { attempt, dueAt: nextDueAt = null } = delivery;
  const reason = boundedOrNull(delivery.reason);
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

/** URLs of an attempt that are stored; a destination has fewer. */
const maxUrls = 20;
const maxUrlLength = 500;

function attemptFact(consumed: ConsumedRecord): readonly Fact[] {
  const { value, headers, partition, offset } = consumed;
  const record = objectIn<AttemptRecord>(value) as AttemptRecord | undefined;
  const startedAt = parseInstant(String(record?.startedAt));
  if (!record || startedAt === undefined || !Object.hasOwn(statuses, record.outcome)) return [];
  const { attempt, latencyMs, outcome } = record;
  const texts = [record.deliveryId, record.eventId, record.sourceId, record.destinationId, record.type];
  if (!texts.every((text) => typeof text === 'string') || !Array.isArray(record.urls)) return [];
  const urls = withExchanges<UrlAttempt>(record.urls, consumed);
  if (!Number.isSafeInteger(attempt) || !Number.isFinite(latencyMs)) return [];
  const [deliveryId = '', eventId = '', sourceId = '', destinationId = '', type = ''] = texts.map(bounded);
  const reason = boundedOrNull(record.reason);
  const instant = (text: string | undefined) => (text === undefined ? null : (parseInstant(text) ?? null));
  const nextDueAt = instant(record.nextDueAt);
  const status = statuses[outcome];
  const changedAt = startedAt + Math.round(latencyMs);
  return [
    {
      kind: 'attempt',
      record: urls === record.urls ? record : { ...record, urls },
      bytes: (value?.length ?? 0) + (headers[exchangesHeader]?.length ?? 0),
      position: { partition, offset },
      attempt: {
        deliveryId,
        destinationId,
        attempt,
        startedAt,
        latencyMs,
        outcome,
        reason,
        nextDueAt,
        breakerOpenSince: instant(record.breakerOpenSince),
        urls: urls.slice(0, maxUrls).map(boundedUrl),
      },
      delivery: {
        id: deliveryId,
        eventId,
        sourceId,
        destinationId,
        type,
        event: boundedOrNull(record.event),
        // Older records have no user key.
        userKey: typeof record.userKey === 'string' ? bounded(record.userKey) : '',
        createdAt: startedAt,
        state: { status, changedAt, rank: ranks.attempted, reason, nextDueAt },
        place: null,
      },
    },
  ];
}

/** Delivery bounds what is kept of an exchange. */
function boundedUrl({ url, detail, ...rest }: UrlAttempt): UrlAttempt {
  return {
    url: url.slice(0, maxUrlLength),
    ...rest,
    ...(detail !== undefined && { detail: detail.slice(0, maxUrlLength) }),
  };
}

function usageFact(usage: UsageRecord | undefined, at: number): readonly Fact[] {
  if (typeof usage?.sourceId !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(usage.day)) return [];
  return Array.isArray(usage.events) ? [{ kind: 'usage', usage, at }] : [];
}
