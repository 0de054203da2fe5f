/**
 * Reads a topic once, from its beginning (or a time) to its current end, at the caller's pace. For topics that are not
 * compacted. Unlike a follower it does not wait for brokers: it fails if no records arrive for 30 s.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { TailraceError } from '@tailrace/errors';
import { topicOffsets, topicOffsetsSince } from '../admin/offsets.ts';
import { maxWaitMs } from '../consume/pacing.ts';
import { toRecord } from '../fetched-record.ts';
import type { Admin } from '../patches/reading/admin-requests.ts';
import type { ConsumedRecord } from '../record.ts';
import { startSession, type Processing } from '../session.ts';
import type { FetchedBatch } from '../wire/fetched-batch.ts';
import { leaveTimeoutMs, type ReaderDependencies } from './reader.ts';

export interface ScanOptions {
  readonly topic: string;
  /** Begins in each partition with the first record at this time or later, in milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** By partition, the offset to begin with. Partitions that are not included are not read. */
  readonly starts?: ReadonlyMap<number, number> | undefined;
  /** By partition, the offset to end before, for example the `ends` of another scan. Default: the current end. */
  readonly ends?: ReadonlyMap<number, number> | undefined;
  /** Yields few records at a time, and rests between them for three times as long as the process was busy: others on the machine come first. */
  readonly isGentle?: boolean;
}

/**
 * Yields the records of one fetch at a time, in the order of their partition. Iterate it once. Leaving the loop closes it.
 *
 * @throws TailraceError (from the iteration) `kafka-unavailable` if no records arrive for 30 s
 */
export interface Scan extends AsyncIterable<readonly ConsumedRecord[]> {
  /** By partition, the offset to end before. */
  readonly ends: ReadonlyMap<number, number>;
  /** Counted in offsets, some of which may have no record. */
  readonly progress: { readonly read: number; readonly total: number };
  close(): Promise<void>;
}

/**
 * Of keys and values: a fetch asks for about as much, and none begins while more than half of it waits. More would outlive V8's
 * collections of young objects.
 */
const bufferBytes = 2 ** 20;
/** Until it is known how well the records are compressed: as much as typical ones. */
const firstFetchBytes = bufferBytes / 8;
/** A gentle scan works in turns of about this time, and takes a quarter of a core. */
const turn = { records: 32, ms: 1, restTimes: 3, mostRestMs: 75 };
/** After this time without records, the scan checks whether the rest has expired, which no fetch reports. */
const checkExpiredAfterMs = 2_000;
const giveUpAfterMs = 30_000;

interface PartitionSpan {
  readonly partition: number;
  readonly start: number;
  readonly end: number;
  next: number;
}

export async function startScan(
  { createConsumer, admin, classify, log, reportUnreadable }: ReaderDependencies,
  options: ScanOptions,
): Promise<Scan> {
  const { topic } = options;
  const spans = await spansOf(admin, options).catch((error: unknown) => {
    throw classify(error);
  });
  const unread = (): PartitionSpan[] => [...spans.values()].filter(({ next, end }) => next < end);
  const read: ConsumedRecord[][] = [];
  let bytesRead = 0;
  let fetchBytes = firstFetchBytes;
  let pausedAt: number | undefined;
  let closed = false;
  let lastProgressAt = performance.now();
  let wake: (() => void) | undefined;

  const advance = (span: PartitionSpan, next: number): void => {
    if (next <= span.next) return;
    span.next = Math.min(next, span.end);
    lastProgressAt = performance.now();
    if (span.next === span.end) session?.pause([{ topic, partition: span.partition }]);
    wake?.();
  };

  const onBatch = (batch: FetchedBatch, processing: Processing): void => {
    const span = spans.get(batch.partition);
    processing.resolveOffset(String(batch.lastOffset()));
    if (!span || closed) return;
    const records: ConsumedRecord[] = [];
    const { partition } = span;
    const before = bytesRead;
    for (const fetched of batch.messages) {
      if (fetched.offset < span.next || fetched.offset >= span.end) continue;
      if (fetched.unreadable) {
        reportUnreadable({ topic, partition, ...fetched.unreadable });
        continue;
      }
      records.push(toRecord(topic, partition, fetched));
      bytesRead += sizeOf(fetched);
    }
    if (records.length > 0) {
      read.push(records);
      const compressed = (batch.recordBytes * records.length) / (bytesRead - before || 1);
      fetchBytes = Math.ceil(bufferBytes * Math.min(1, compressed));
    }
    advance(span, batch.lastOffset() + 1);
    if (bytesRead > bufferBytes / 2 && pausedAt === undefined) {
      pausedAt = performance.now();
      session?.pause(unread().map(({ partition }) => ({ topic, partition })));
    }
  };

  const receive = (): ConsumedRecord[] | undefined => {
    const records = read.shift();
    for (const record of records ?? []) bytesRead -= sizeOf(record);
    if (pausedAt !== undefined && bytesRead <= bufferBytes / 2) {
      pausedAt = undefined;
      lastProgressAt = performance.now();
      session?.resume(unread().map(({ partition }) => ({ topic, partition })));
    }
    return records;
  };

  const open = () => {
    const session = startSession({
      consumer: createConsumer(`${topic}.scan.${randomUUID()}`, {
        // The end of a pause is noticed after as long again, at most.
        waitMs: () => Math.min(maxWaitMs, Math.ceil(performance.now() - (pausedAt ?? -Infinity))),
        maxBytes: () => fetchBytes,
      }),
      topics: [topic],
      classify,
      log,
      fields: { topic },
      onBatch,
      onJoin({ assignment }) {
        // Nothing is committed, so the library would start at the beginning.
        for (const partition of assignment[topic] ?? []) {
          const span = spans.get(partition);
          if (pausedAt !== undefined || !span || span.next >= span.end) session.pause([{ topic, partition }]);
          if (span) session.seek({ topic, partition }, span.next);
        }
      },
    });
    return session;
  };
  const session = unread().length > 0 ? open() : undefined;

  const close = async (): Promise<void> => {
    if (closed) return;
    closed = true;
    wake?.();
    await session?.end({ timeoutMs: leaveTimeoutMs });
  };

  /** Resolves when records were read, or after the time to check for expired ones. */
  const recordsOrTimeout = async (): Promise<void> => {
    const timer = setTimeout(() => wake?.(), checkExpiredAfterMs);
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
    clearTimeout(timer);
    const idleMs = performance.now() - lastProgressAt;
    if (idleMs >= giveUpAfterMs) {
      throw new TailraceError(
        'kafka-unavailable',
        `No records of ${topic} arrived for ${giveUpAfterMs / 1_000} s. Check that the brokers run, and that the user ` +
          `may read the topic in consumer groups whose names begin with ${topic}.scan.`,
      );
    }
    if (idleMs < checkExpiredAfterMs) return;
    for (const { partition, low } of await topicOffsets(admin, topic).catch(() => [])) {
      const span = spans.get(partition);
      if (span) advance(span, Number(low));
    }
  };

  return {
    ends: new Map(Array.from(spans.values(), ({ partition, end }) => [partition, end])),
    get progress() {
      let total = 0;
      let done = 0;
      for (const { start, next, end } of spans.values()) {
        total += end - start;
        done += next - start;
      }
      return { read: done, total };
    },
    close,
    async *[Symbol.asyncIterator]() {
      try {
        while (!closed) {
          const records = receive();
          if (records && options.isGentle) yield* gently(records);
          else if (records) yield records;
          else if (unread().length === 0) return;
          else await recordsOrTimeout();
        }
      } finally {
        await close();
      }
    },
  };
}

async function* gently(records: readonly ConsumedRecord[]): AsyncGenerator<readonly ConsumedRecord[]> {
  let before = performance.eventLoopUtilization();
  for (let first = 0; first < records.length; first += turn.records) {
    yield records.slice(first, first + turn.records);
    const { active } = performance.eventLoopUtilization(before);
    if (active < turn.ms) continue;
    await wait(Math.min(active * turn.restTimes, turn.mostRestMs));
    before = performance.eventLoopUtilization();
  }
}

async function spansOf(
  admin: Admin,
  { topic, since, starts: from, ends }: ScanOptions,
): Promise<Map<number, PartitionSpan>> {
  const starts = new Map(from);
  if (since !== undefined) {
    for (const { partition, offset } of await topicOffsetsSince(admin, topic, since)) {
      starts.set(partition, Number(offset));
    }
  }
  const spans = new Map<number, PartitionSpan>();
  for (const { partition, low, high } of await topicOffsets(admin, topic)) {
    if (from && !from.has(partition)) continue;
    const end = Math.min(Number(high), ends?.get(partition) ?? (ends ? 0 : Infinity));
    const start = Math.min(Math.max(Number(low), starts.get(partition) ?? 0), end);
    spans.set(partition, { partition, start, end, next: start });
  }
  return spans;
}

function sizeOf({ key, value }: { readonly key: Buffer | null; readonly value: Buffer | null }): number {
  return (key?.length ?? 0) + (value?.length ?? 0);
}
