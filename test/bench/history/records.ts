/** Records of the topics that the history reads, as router and delivery write them, for any number of deliveries. */
import { createHash, randomBytes } from 'node:crypto';
import { readBack, type ConsumedRecord, type OutgoingRecord, type TailPosition } from '@tailrace/kafka';
import {
  encodeDecision,
  encodeDelivery,
  type AttemptRecord,
  type Delivery,
  type UsageRecord,
} from '@tailrace/records';
import type { TopicNames } from '@tailrace/topology';

export const sizes = { sources: 20, destinations: 1_000, users: 100_000, names: 300 } as const;
const dayMs = 86_400_000;
const periodMs = 6.9 * dayMs;
/** Of the only tier. */
export const retryDelayMs = 1_000;
const batchSize = 500;
/** Random digits, which are repeated after a thousand bodies, so that requests are compressed to a third. */
const noteLength = 640;
const notes = randomBytes(500 * noteLength).toString('hex');

/** Fields that all events have. With them a body has 1 KB. */
const filling = Object.fromEntries(Array.from({ length: 12 }, (_, nth) => [`property ${nth}`, 'a value']));

function bodyOf(n: number): Buffer {
  const at = (n * noteLength) % notes.length;
  const properties = { note: notes.slice(at, at + noteLength), ...filling };
  return Buffer.from(JSON.stringify({ version: 1, type: 'track', userId: `user-${n}`, properties }));
}

export interface Batch {
  readonly records: readonly ConsumedRecord[];
  readonly position: TailPosition;
}

/** Few destinations have most deliveries. */
function skewed(n: number, limit: number): number {
  const share = (createHash('md5').update(`${n}`).digest().readUInt32LE() % 1_000_000) / 1_000_000;
  return Math.floor(share ** 3 * limit);
}

export function idOf(n: number): string {
  const digest = createHash('md5').update(`delivery ${n}`).digest('hex');
  return digest.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

export function deliveryOf(n: number): Delivery {
  const destinationId = `destination-${skewed(n, sizes.destinations)}`;
  const isTrack = n % 5 !== 0;
  return {
    deliveryId: idOf(n),
    eventId: idOf(-n),
    sourceId: `source-${skewed(n + 7, sizes.sources)}`,
    destinationId,
    type: isTrack ? 'track' : 'page',
    eventName: isTrack ? `Event Name ${skewed(n + 3, sizes.names)}` : undefined,
    attempt: 0,
    step: 0,
    deferrals: 0,
    closedUrls: [],
    body: bodyOf(n),
    key: `${destinationId}/user-${(n * 7_919) % sizes.users}`,
  };
}

/** 2 % are dead after two attempts, a tenth of them replayed; 1 % wait for a retry. */
export const isDead = (n: number): boolean => n % 50 === 1;
const isRetrying = (n: number): boolean => n % 100 === 2;

/** A record, and when it was written. */
type Written = readonly [record: OutgoingRecord, timestamp: number];

/** The records of one topic after another, each in the order of time. Dead letters are in partition 0. */
export function* recordsOf(names: TopicNames, deliveries: number, now: number): Generator<Written> {
  const timeOf = (n: number): number => now - periodMs + Math.floor((n / deliveries) * periodMs);
  const numbers = function* (holds: (n: number) => boolean): Generator<number> {
    for (let n = 0; n < deliveries; n++) if (holds(n)) yield n;
  };
  const all = (): boolean => true;
  const reason = (n: number): string => (n % 3 === 0 ? 'timeout' : 'server-error');
  for (const n of numbers(all)) yield [encodeDelivery(names.deliveries, deliveryOf(n)), timeOf(n)];
  for (const n of numbers(all)) {
    const failed = isDead(n) || isRetrying(n);
    yield [attemptOf(names.attempts, n, timeOf(n) + 40, failed ? reason(n) : undefined), timeOf(n) + 60];
  }
  for (const n of numbers(isRetrying)) {
    const retry = { ...deliveryOf(n), attempt: 1, step: 1, reason: reason(n), dueAt: timeOf(n) + 10_000 };
    yield [encodeDelivery(names.retryTier(retryDelayMs), retry), timeOf(n) + 70];
  }
  for (const n of numbers(isDead)) {
    const cause = n % 3 === 0 ? 'attempts-exhausted' : 'client-error';
    const dead = { ...deliveryOf(n), attempt: 2, step: 2, reason: cause };
    yield [{ ...encodeDelivery(names.deliveriesDead, dead), partition: 0 }, timeOf(n) + 12_000];
  }
  let letter = -1;
  for (const n of numbers(isDead)) {
    letter += 1;
    if (letter % 10 !== 0) continue;
    const replay = { ...deliveryOf(n), replayedFrom: `0/${letter}` };
    yield [encodeDelivery(names.deliveriesReplay, replay), now - 60_000];
  }
  for (const n of numbers((n) => n % 20 === 3)) {
    const { eventId, sourceId, type, destinationId } = deliveryOf(n);
    const filtered = [{ reason: 'disabled' as const, destinations: [{ id: destinationId }] }];
    const event = { eventId: `filtered-${eventId}`, sourceId, type };
    const decision = { ...event, decidedAt: timeOf(n), routed: 0, filtered };
    yield [encodeDecision(names.decisions, 'user', decision), timeOf(n)];
  }
  for (let source = 0; source < sizes.sources; source++) {
    for (let at = now - periodMs; at < now; at += dayMs) yield [usageOf(names.usage, source, at), at];
  }
}

/** Calls of all names on one day. */
function usageOf(topic: string, source: number, at: number): OutgoingRecord {
  const time = new Date(at).toISOString();
  const calls = 10;
  const events = Array.from({ length: sizes.names }, (_, name) => ({
    event: `Event Name ${name}`,
    calls,
    filtered: 0,
    firstAt: time,
    lastAt: time,
  }));
  const sourceId = `source-${source}`;
  const day = {
    sourceId,
    day: time.slice(0, 10),
    calls: { track: calls * sizes.names },
    filtered: 0,
    events,
  };
  return { topic, key: sourceId, value: JSON.stringify(day satisfies UsageRecord) };
}

function attemptOf(topic: string, n: number, at: number, reason: string | undefined): OutgoingRecord {
  const { deliveryId, eventId, sourceId, destinationId, type, eventName, key } = deliveryOf(n);
  const latencyMs = 5 + (n % 400) / 3;
  const url = `https://${destinationId}.example.com/hooks/tailrace`;
  const answer = reason === undefined ? { status: 200 } : { status: 503, reason };
  const record: AttemptRecord = {
    deliveryId,
    eventId,
    sourceId,
    destinationId,
    type,
    event: eventName,
    attempt: 1,
    userKey: key.slice(destinationId.length + 1),
    startedAt: new Date(at).toISOString(),
    latencyMs,
    ...(reason === undefined ? { outcome: 'delivered' } : { outcome: 'retry', reason }),
    urls: [{ url, latencyMs, ...answer }],
  };
  return { topic, key: deliveryId, value: JSON.stringify(record) };
}

/** The same in batches of one topic each, as the Kafka client passes them on, in one partition. */
export function* batchesOf(names: TopicNames, deliveries: number, now: number): Generator<Batch> {
  let records: ConsumedRecord[] = [];
  let next = 0;
  const batch = (): Batch => ({
    records,
    position: { topic: records[0]?.topic ?? '', partition: 0, next },
  });
  const bufferOf = (text: string | Buffer | null): Buffer | null =>
    text === null ? null : Buffer.from(text);
  for (const [{ topic, key, value, headers }, timestamp] of recordsOf(names, deliveries, now)) {
    const isNewTopic = records.length > 0 && records[0]?.topic !== topic;
    if (isNewTopic || records.length === batchSize) {
      yield batch();
      records = [];
    }
    if (isNewTopic) next = 0;
    records.push({
      topic,
      partition: 0,
      offset: next,
      timestamp,
      key: bufferOf(key),
      value: bufferOf(value),
      ...readBack(headers),
    });
    next += 1;
  }
  if (records.length > 0) yield batch();
}
