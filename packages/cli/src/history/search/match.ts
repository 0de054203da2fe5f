/** Whether a record is about an event, and what it says about it. Values are not kept: they may be large and private. */
import { parseJson, recordMessageId, wholeDigits, type JsonObject } from '@tailrace/events';
import type { ConsumedRecord } from '@tailrace/kafka';
import {
  decodeDecision,
  decodeDelivery,
  withExchanges,
  type AttemptRecord,
  type Decision,
} from '@tailrace/records';
import type { TopicNames } from '@tailrace/topology';

interface Place {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** The time of the record, ISO 8601. */
  readonly at: string;
}

export type Match = Place &
  (
    | {
        readonly kind: 'event' | 'waiting';
        readonly key: string | null;
        readonly sourceId: string | null;
        /** False if the format of the record cannot be read here, and only its bytes contain the id. */
        readonly certain: boolean;
      }
    | {
        readonly kind: 'rejected';
        readonly code: string;
        readonly message: string;
        readonly certain: boolean;
      }
    | { readonly kind: 'decision'; readonly decision: Decision }
    | {
        readonly kind: 'delivery' | 'replay' | 'retry' | 'dead';
        readonly deliveryId: string;
        readonly destinationId: string;
        readonly attempts: number;
        readonly reason: string | null;
        readonly dueAt: string | null;
      }
    | {
        readonly kind: 'attempt';
        readonly deliveryId: string;
        readonly destinationId: string;
        readonly attempt: number;
        readonly outcome: AttemptRecord['outcome'];
        readonly reason: string | null;
        readonly nextDueAt: string | null;
        readonly answers: readonly Pick<
          AttemptRecord['urls'][number],
          'url' | 'status' | 'reason' | 'detail' | 'exchange'
        >[];
      }
  );

export type Matcher = (record: ConsumedRecord) => Match | undefined;

/** Parses only the records whose bytes contain the id. */
export function createMatcher(names: TopicNames, eventId: string): Matcher {
  const id = Buffer.from(eventId);
  const escapedId = Buffer.from(JSON.stringify(eventId).slice(1, -1));
  const messageIdField = Buffer.from('"messageId"');

  const inCall = (record: ConsumedRecord): { readonly certain: boolean } | undefined => {
    const { value } = record;
    if (value === null) return undefined;
    if (value.includes(escapedId) || value.includes(id)) {
      const call = parse(value);
      if (call === undefined) return { certain: false };
      if (textOf(call['messageId']) === eventId) return { certain: true };
    }
    // The router names a call without a messageId after its position.
    const isNamed = !value.includes(messageIdField) && recordMessageId(record) === eventId;
    return isNamed ? { certain: true } : undefined;
  };

  return (record) => {
    const { topic } = record;
    if (topic === names.events || topic === names.eventsWaiting) {
      const found = inCall(record);
      if (!found) return undefined;
      return {
        ...placeOf(record),
        kind: topic === names.events ? 'event' : 'waiting',
        key: record.key?.toString() ?? null,
        sourceId: record.headers['source-id']?.toString() ?? null,
        ...found,
      };
    }
    if (topic === names.eventsRejected) {
      const found = inCall(record) ?? rejectedFrom(names, record, eventId);
      if (!found) return undefined;
      const { 'error-code': code, 'error-message': message } = record.headers;
      return {
        ...placeOf(record),
        kind: 'rejected',
        code: code?.toString() ?? 'unknown',
        message: message?.toString() ?? '',
        ...found,
      };
    }
    if (topic === names.decisions) return decisionOf(record, eventId, escapedId);
    return topic === names.attempts ? attemptOf(record, eventId, id) : deliveryOf(names, record, eventId);
  };
}

/** A rejected call without a messageId is named after its position in `events`, but its time there is not known. */
function rejectedFrom(names: TopicNames, { headers, timestamp }: ConsumedRecord, eventId: string) {
  const [partition, offset] = [headers['origin-partition'], headers['origin-offset']].map((text) =>
    Number(text ?? NaN),
  );
  if (partition === undefined || offset === undefined || Number.isNaN(partition + offset)) return undefined;
  const isNamed = recordMessageId({ topic: names.events, partition, offset, timestamp }) === eventId;
  return isNamed ? { certain: true } : undefined;
}

function deliveryOf(names: TopicNames, record: ConsumedRecord, eventId: string): Match | undefined {
  if (record.headers['event-id']?.toString() !== eventId) return undefined;
  const delivery = decodeDelivery(record);
  if (typeof delivery === 'string') return undefined;
  const { deliveryId, destinationId, attempt, reason, dueAt } = delivery;
  return {
    ...placeOf(record),
    kind: kindOf(names, record.topic),
    deliveryId,
    destinationId,
    attempts: attempt,
    reason: reason ?? null,
    dueAt: dueAt === undefined ? null : new Date(dueAt).toISOString(),
  };
}

function kindOf(names: TopicNames, topic: string): 'delivery' | 'replay' | 'retry' | 'dead' {
  if (topic === names.deliveries) return 'delivery';
  if (topic === names.deliveriesReplay) return 'replay';
  return topic === names.deliveriesDead ? 'dead' : 'retry';
}

function decisionOf(record: ConsumedRecord, eventId: string, escapedId: Buffer): Match | undefined {
  if (record.value?.includes(escapedId) !== true) return undefined;
  const decision = decodeDecision(record);
  return decision?.eventId === eventId ? { ...placeOf(record), kind: 'decision', decision } : undefined;
}

function attemptOf(record: ConsumedRecord, eventId: string, id: Buffer): Match | undefined {
  if (record.value?.includes(id) !== true) return undefined;
  const attempt: (JsonObject & Partial<AttemptRecord>) | undefined = parse(record.value);
  if (attempt?.eventId !== eventId) return undefined;
  const { deliveryId = '', destinationId = '', outcome = 'retry', reason, nextDueAt, urls = [] } = attempt;
  return {
    ...placeOf(record),
    kind: 'attempt',
    deliveryId,
    destinationId,
    outcome,
    reason: reason ?? null,
    nextDueAt: nextDueAt ?? null,
    attempt: Number(attempt.attempt),
    answers: withExchanges(urls, record).map(({ url, status, reason, detail, exchange }) => ({
      url,
      status,
      reason,
      detail,
      ...(exchange && { exchange }),
    })),
  };
}

function placeOf({ topic, partition, offset, timestamp }: ConsumedRecord): Place {
  return { topic, partition, offset, at: new Date(timestamp).toISOString() };
}

/** An id; a direct producer may have written it as a number. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : wholeDigits(value);
}

function parse(value: Buffer): JsonObject | undefined {
  try {
    const parsed: unknown = parseJson(value.toString());
    return typeof parsed === 'object' && parsed !== null ? (parsed as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}
