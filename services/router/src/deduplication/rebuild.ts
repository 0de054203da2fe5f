/**
 * Reads the message ids of a partition that is new to this process back from the topic, so that a repeat is recognised across
 * a restart, a crash or a rebalance. The partition is not fetched until the ids have been read.
 *
 * Rejected records are left out: one may be sent again under the same id, once it is corrected or its source is created, and
 * must not be dropped as a repeat then. The current configuration does not show which records were rejected earlier;
 * `events.rejected` does.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { ConfigView } from '@tailrace/config';
import { readCall } from '@tailrace/events';
import { isInside, type ConsumedRecord, type Kafka, type NewPartition } from '@tailrace/kafka';
import type { FrameReader } from '@tailrace/registry';
import { contentHashOf, lookUpSource, readRecord, storedContentHash } from '@tailrace/routing';
import type { Log } from '@tailrace/service';
import type { TopicNames } from '@tailrace/topology';
import type { DeduplicationWindow, MessageIds } from './message-ids.ts';

export interface RebuildDependencies {
  readonly kafka: Pick<Kafka, 'scan' | 'offsetsAt'>;
  readonly names: Pick<TopicNames, 'events' | 'eventsRejected'>;
  readonly config: Pick<ConfigView, 'source' | 'sourceByWriteKey'>;
  readonly frames: FrameReader;
  readonly messageIds: MessageIds;
  readonly window: DeduplicationWindow;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

/** The range of offsets of one partition that is read back. */
interface Range {
  readonly partition: number;
  readonly start: number;
  readonly end: number;
  /** For each offset from `start` on, 1 where it was rejected. */
  readonly rejected: Uint8Array;
  readonly wasFinished: (offset: number) => boolean;
}

/** Brokers reject, by default, records whose time is more than this ahead of their clock. */
const maxClockLeadMs = 3_600_000;
/** The index of times is not searched further back; older records count as being as old as the topic. */
const maxAgoMs = 60 * 86_400_000;
/** How long the rebuild waits for schemas, in total. Ids of records whose schemas are still unknown are not remembered. */
const schemaTimeoutMs = 5_000;
const schemaRetryMs = 100;

/**
 * @throws TailraceError (from the promise) `kafka-unavailable`, `topic-missing`; the caller retries
 */
export async function rebuild(
  deps: RebuildDependencies,
  partitions: readonly NewPartition[],
  signal: AbortSignal,
): Promise<void> {
  const { kafka, names, messageIds, log } = deps;
  if (partitions.length === 0) return;
  const startedAt = performance.now();
  for (const { partition } of partitions) messageIds.forget(partition);

  const offsetsAgo = memoize((agoMs) => kafka.offsetsAt(names.events, Math.max(0, Date.now() - agoMs)));
  const ranges = await rangesOf(deps.window, partitions, offsetsAgo);
  if (ranges.size === 0) return;

  // Opened in parallel, because joining a group may take a broker seconds.
  const since = await rejectedSince(ranges, offsetsAgo);
  const [rejected, events] = await Promise.all([
    kafka.scan({ topic: names.eventsRejected, since }),
    kafka.scan({
      topic: names.events,
      starts: new Map(Array.from(ranges.values(), ({ partition, start }) => [partition, start])),
      ends: new Map(Array.from(ranges.values(), ({ partition, end }) => [partition, end])),
    }),
  ]);
  try {
    for await (const records of rejected) {
      for (const record of records) markRejected(ranges, names.events, record);
      if (signal.aborted) return;
    }
    const reader = createIdReader(deps);
    let ids = 0;
    for await (const records of events) {
      for (const record of records) {
        const range = ranges.get(record.partition);
        if (!range?.wasFinished(record.offset) || range.rejected[record.offset - range.start] === 1) continue;
        if (await reader.remember(record)) ids += 1;
      }
      if (signal.aborted) return;
    }
    const tookMs = Math.round(performance.now() - startedAt);
    log.info({ partitions: ranges.size, ids, tookMs }, 'message ids read back');
    if (reader.skipped > 0) {
      log.warn({ records: reader.skipped }, 'message ids skipped, schemas not available');
    }
  } finally {
    await Promise.all([rejected.close(), events.close()]);
  }
}

type OffsetsAgo = (agoMs: number) => Promise<ReadonlyMap<number, number>>;

function memoize(lookUp: OffsetsAgo): OffsetsAgo {
  const found = new Map<number, ReturnType<OffsetsAgo>>();
  return (agoMs) => {
    const offsets = found.get(agoMs) ?? lookUp(agoMs);
    found.set(agoMs, offsets);
    return offsets;
  };
}

/** Ages that double, from one window on. Coarse, because each of them costs a request. */
function* agesOf(windowMs: number): Generator<number> {
  for (let agoMs = windowMs; agoMs < maxAgoMs; agoMs *= 2) yield agoMs;
}

/**
 * The range to read of each partition: the window before its last finished record, and at least `minIds` records. That record
 * may be old, where no router ran or no event came for a while; its age is determined first, within a factor of two.
 */
async function rangesOf(
  { windowMs, minIds, maxIds }: DeduplicationWindow,
  partitions: readonly NewPartition[],
  offsetsAgo: OffsetsAgo,
): Promise<Map<number, Range>> {
  const ranges = new Map<number, Range>();
  const beginnings = await offsetsAgo(Infinity);
  for (const { partition, next, finished } of partitions) {
    const beginning = beginnings.get(partition) ?? 0;
    let start = next - minIds;
    for (const agoMs of start > beginning ? agesOf(windowMs) : []) {
      if (((await offsetsAgo(agoMs)).get(partition) ?? next) >= next) continue;
      start = Math.min(start, (await offsetsAgo(agoMs + windowMs)).get(partition) ?? start);
      break;
    }
    start = Math.max(start, next - maxIds, beginning);
    const end = finished.at(-1)?.to ?? next;
    if (start >= end) continue;
    const wasFinished = (offset: number): boolean => offset < next || isInside(offset, finished);
    ranges.set(partition, { partition, start, end, rejected: new Uint8Array(end - start), wasFinished });
  }
  return ranges;
}

/**
 * A time before which no record of the ranges was rejected; undefined where there is none. A record is rejected after it was
 * written, and its own time is earlier than that, or ahead of it by at most what brokers allow.
 */
async function rejectedSince(
  ranges: ReadonlyMap<number, Range>,
  offsetsAgo: OffsetsAgo,
): Promise<number | undefined> {
  for (const agoMs of agesOf(maxClockLeadMs)) {
    const offsets = await offsetsAgo(agoMs);
    const isBeforeAll = [...ranges.values()].every(
      ({ partition, start }) => (offsets.get(partition) ?? Infinity) <= start,
    );
    if (isBeforeAll) return Date.now() - agoMs - maxClockLeadMs;
  }
  return undefined;
}

function markRejected(
  ranges: ReadonlyMap<number, Range>,
  eventsTopic: string,
  { headers }: ConsumedRecord,
): void {
  if (headers['origin-topic']?.toString() !== eventsTopic) return;
  // The record was an event that was routed; only one of its deliveries was too large.
  if (headers['error-code']?.toString() === 'record-too-large') return;
  const range = ranges.get(Number(headers['origin-partition']));
  const index = Number(headers['origin-offset']) - (range?.start ?? 0);
  if (range && index >= 0 && index < range.rejected.length) range.rejected[index] = 1;
}

/** The beginning of an event that ingest wrote; its id contains no JSON escapes. */
const ingestPrefix = /^\{"type":"[a-z]{4,8}","messageId":"([^"\\]{1,100})",/;

function createIdReader({ config, frames, messageIds }: RebuildDependencies) {
  let deadline: number | undefined;
  let skipped = 0;

  const waitForSchema = async (schemaId: number): Promise<void> => {
    deadline ??= performance.now() + schemaTimeoutMs;
    while (!(await frames.fetchSchema(schemaId)) && performance.now() < deadline) await pause(schemaRetryMs);
  };

  /** Returns whether the record has an id, which is now remembered. */
  const remember = async (record: ConsumedRecord): Promise<boolean> => {
    const sourceId = record.headers['source-id']?.toString();
    const json = record.value?.toString() ?? '';
    const messageId = sourceId ? quickMessageId(json) : undefined;
    const contentHash = messageId === undefined ? undefined : storedContentHash(json);
    if (sourceId && messageId !== undefined && contentHash !== undefined) {
      messageIds.use(record, sourceId, messageId, contentHash);
      return true;
    }
    let reading = readRecord(record, frames);
    if (reading.outcome === 'needs-schema') {
      await waitForSchema(reading.schemaId);
      reading = readRecord(record, frames);
      if (reading.outcome === 'needs-schema') skipped += 1;
    }
    if (reading.outcome !== 'read') return false;
    const lookup = lookUpSource(reading.source, config);
    const call = readCall(reading.call, { enriched: true, receivedAt: 0, fallbackMessageId: () => '' });
    // Without a messageId, the id is derived from the position of the record, which no other record has.
    if (lookup.outcome === 'unknown' || !call.ok || call.event.messageId === '') return false;
    messageIds.use(record, lookup.source.id, call.event.messageId, contentHashOf(reading.json, call.event));
    return true;
  };

  return {
    remember,
    /** Records whose schema was not available in time. */
    get skipped() {
      return skipped;
    },
  };
}

/**
 * The messageId, where it can be read without parsing: the value begins as ingest writes it, and contains neither the key again
 * nor an escape that could hide it.
 */
export function quickMessageId(json: string): string | undefined {
  const messageId = ingestPrefix.exec(json)?.[1];
  if (messageId === undefined) return undefined;
  const isRepeated = json.includes('"messageId"', json.indexOf('"messageId"') + 1);
  return isRepeated || json.includes('\\u') ? undefined : messageId;
}
