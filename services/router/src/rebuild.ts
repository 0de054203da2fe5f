/**
 * Reads back what dedupe.ts must remember of a partition that is new to this process, from the topic itself, so
 * that a repeat is caught across a restart, a crash or a rebalance. Until it is read nothing of the partition is
 * fetched, so nothing piles up meanwhile.
 *
 * Not every record was an event. One that was rejected may be sent again under the same id once its mistake is
 * fixed, or a source was made for it; it must not be taken for a repeat then, or it would be lost. Whether it was
 * rejected cannot be worked out from today's configuration, but `events.rejected` says it.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { ConfigView } from '@tailrace/config';
import { readCall } from '@tailrace/events';
import type { ConsumedRecord, Kafka, NewPartition } from '@tailrace/kafka';
import type { FrameReader } from '@tailrace/registry';
import { lookUpSource } from '@tailrace/routing';
import type { Log } from '@tailrace/service';
import type { TopicNames } from '@tailrace/topics';
import type { Dedupe, DedupeWindow } from './dedupe.ts';
import { readRecord } from './read-record.ts';

export interface RebuildDependencies {
  readonly kafka: Pick<Kafka, 'scan' | 'offsetsAt'>;
  readonly names: Pick<TopicNames, 'events' | 'eventsRejected'>;
  readonly config: Pick<ConfigView, 'source' | 'sourceByWriteKey'>;
  readonly frames: FrameReader;
  readonly dedupe: Dedupe;
  readonly window: DedupeWindow;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

/** The offsets of one partition that are read back. */
interface Span {
  readonly partition: number;
  readonly start: number;
  readonly end: number;
  /** For each offset from `start` on, 1 where it was rejected. */
  readonly rejected: Uint8Array;
  readonly wasFinished: (offset: number) => boolean;
}

/** As brokers allow by default, a record's time is at most this much ahead of theirs. */
const maxClockLeadMs = 3_600_000;
/** Nothing is looked for that was written earlier; whatever is older is taken for as old as the topic. */
const longestAgoMs = 60 * 86_400_000;
/** For schemas that have to be asked for; what they hide is then not remembered. */
const schemaPatienceMs = 5_000;
const schemaPauseMs = 100;

/**
 * @throws TailraceError (from the promise) `kafka-unavailable`, `topic-missing`: then it is to be called again
 */
export async function rebuild(
  deps: RebuildDependencies,
  partitions: readonly NewPartition[],
  signal: AbortSignal,
): Promise<void> {
  const { kafka, names, dedupe, log } = deps;
  if (partitions.length === 0) return;
  const beganAt = performance.now();
  for (const { partition } of partitions) dedupe.forget(partition);

  const offsetsAgo = lookUpOnce((agoMs) => kafka.offsetsAt(names.events, Math.max(0, Date.now() - agoMs)));
  const spans = await spansOf(deps.window, partitions, offsetsAgo);
  if (spans.size === 0) return;

  // Opened together, because to join a group may take a broker seconds.
  const since = await rejectedSince(spans, offsetsAgo);
  const [rejected, events] = await Promise.all([
    kafka.scan({ topic: names.eventsRejected, since }),
    kafka.scan({
      topic: names.events,
      starts: new Map(Array.from(spans.values(), ({ partition, start }) => [partition, start])),
      ends: new Map(Array.from(spans.values(), ({ partition, end }) => [partition, end])),
    }),
  ]);
  try {
    for await (const records of rejected) {
      for (const record of records) markRejected(spans, names.events, record);
      if (signal.aborted) return;
    }
    const remember = createRememberer(deps);
    let ids = 0;
    for await (const records of events) {
      for (const record of records) {
        const span = spans.get(record.partition);
        if (!span?.wasFinished(record.offset) || span.rejected[record.offset - span.start] === 1) continue;
        if (await remember.take(record)) ids += 1;
      }
      if (signal.aborted) return;
    }
    const tookMs = Math.round(performance.now() - beganAt);
    log.info({ partitions: spans.size, ids, tookMs }, 'message ids read back');
    if (remember.skipped > 0) {
      const fields = { records: remember.skipped };
      log.warn(
        fields,
        'the schema registry did not answer: repeats of some earlier records will not be known',
      );
    }
  } finally {
    await Promise.all([rejected.close(), events.close()]);
  }
}

type OffsetsAgo = (agoMs: number) => Promise<ReadonlyMap<number, number>>;

function lookUpOnce(lookUp: OffsetsAgo): OffsetsAgo {
  const found = new Map<number, ReturnType<OffsetsAgo>>();
  return (agoMs) => {
    const offsets = found.get(agoMs) ?? lookUp(agoMs);
    found.set(agoMs, offsets);
    return offsets;
  };
}

/** Times before now: one window, two, four and so on. Coarse, because each costs a request. */
function* agesOf(windowMs: number): Generator<number> {
  for (let agoMs = windowMs; agoMs < longestAgoMs; agoMs *= 2) yield agoMs;
}

/**
 * What to read of each partition: the window before its last finished record, and at least so many records. That
 * record may be old, where no router ran for a while or nothing came; so its age is found first, to within half.
 */
async function spansOf(
  { windowMs, leastIds, mostIds }: DedupeWindow,
  partitions: readonly NewPartition[],
  offsetsAgo: OffsetsAgo,
): Promise<Map<number, Span>> {
  const spans = new Map<number, Span>();
  const beginnings = await offsetsAgo(Infinity);
  for (const { partition, next, finished } of partitions) {
    const beginning = beginnings.get(partition) ?? 0;
    let start = next - leastIds;
    for (const agoMs of start > beginning ? agesOf(windowMs) : []) {
      if (((await offsetsAgo(agoMs)).get(partition) ?? next) >= next) continue;
      start = Math.min(start, (await offsetsAgo(agoMs + windowMs)).get(partition) ?? start);
      break;
    }
    start = Math.max(start, next - mostIds, beginning);
    const end = finished.at(-1)?.to ?? next;
    if (start >= end) continue;
    const wasFinished = (offset: number): boolean =>
      offset < next || finished.some(({ from, to }) => from <= offset && offset < to);
    spans.set(partition, { partition, start, end, rejected: new Uint8Array(end - start), wasFinished });
  }
  return spans;
}

/**
 * A time before which nothing of the spans was rejected; undefined where it is not known. A record is rejected
 * after it was written, and its own time is behind that, or ahead by what brokers allow.
 */
async function rejectedSince(
  spans: ReadonlyMap<number, Span>,
  offsetsAgo: OffsetsAgo,
): Promise<number | undefined> {
  for (const agoMs of agesOf(maxClockLeadMs)) {
    const offsets = await offsetsAgo(agoMs);
    const isBeforeAll = [...spans.values()].every(
      ({ partition, start }) => (offsets.get(partition) ?? Infinity) <= start,
    );
    if (isBeforeAll) return Date.now() - agoMs - maxClockLeadMs;
  }
  return undefined;
}

function markRejected(
  spans: ReadonlyMap<number, Span>,
  eventsTopic: string,
  { headers }: ConsumedRecord,
): void {
  if (headers['origin-topic']?.toString() !== eventsTopic) return;
  // It was an event, and only one of its deliveries was refused.
  if (headers['error-code']?.toString() === 'record-too-large') return;
  const span = spans.get(Number(headers['origin-partition']));
  const place = Number(headers['origin-offset']) - (span?.start ?? 0);
  if (span && place >= 0 && place < span.rejected.length) span.rejected[place] = 1;
}

/** How an event that ingest wrote begins; the id is as it is in JSON, without escapes. */
const ingestPrefix = /^\{"type":"[a-z]{4,8}","messageId":"([^"\\]{1,100})",/;
/** More than that prefix can take, in bytes. */
const prefixBytes = 450;

function createRememberer({ config, frames, dedupe }: RebuildDependencies) {
  let deadline: number | undefined;
  let skipped = 0;

  const ask = async (schemaId: number): Promise<void> => {
    deadline ??= performance.now() + schemaPatienceMs;
    while (!(await frames.ask(schemaId)) && performance.now() < deadline) await pause(schemaPauseMs);
  };

  /** Whether the record named an id, which is now remembered. */
  const take = async (record: ConsumedRecord): Promise<boolean> => {
    const { partition, offset } = record;
    const sourceId = record.headers['source-id']?.toString();
    const messageId = sourceId ? quickMessageId(record.value) : undefined;
    if (sourceId && messageId !== undefined) {
      dedupe.isRepeat(partition, offset, sourceId, messageId);
      return true;
    }
    let reading = readRecord(record, frames);
    if (reading.outcome === 'needs-schema') {
      await ask(reading.schemaId);
      reading = readRecord(record, frames);
      if (reading.outcome === 'needs-schema') skipped += 1;
    }
    if (reading.outcome !== 'read') return false;
    const lookup = lookUpSource(reading.source, config);
    const call = readCall(reading.call, { enriched: true, receivedAt: 0, fallbackMessageId: () => '' });
    // Without a messageId of its own a record has one from its place, which no other has.
    if (lookup.outcome === 'unknown' || !call.ok || call.event.messageId === '') return false;
    dedupe.isRepeat(partition, offset, lookup.source.id, call.event.messageId);
    return true;
  };

  return {
    take,
    /** Records whose schema could not be had in time. */
    get skipped() {
      return skipped;
    },
  };
}

/**
 * The messageId where it can be had without parsing: the value begins as ingest writes it, and has the key nowhere
 * else, nor any escape that could hide it.
 */
export function quickMessageId(value: Buffer | null): string | undefined {
  if (value === null) return undefined;
  const messageId = ingestPrefix.exec(value.toString('utf8', 0, prefixBytes))?.[1];
  if (messageId === undefined) return undefined;
  const first = value.indexOf('"messageId"');
  return value.includes('"messageId"', first + 1) || value.includes('\\u') ? undefined : messageId;
}
