/**
 * Reads a topic once, from its beginning (or a time) to the end it has now, at the pace of whoever takes the
 * records. For topics that are not compacted. It commits nothing; the group that the client library needs for
 * reading is named after this scan alone, and vanishes with it.
 *
 * Unlike a follower it waits for nothing: where Kafka brings no more, it fails.
 */
import { randomUUID } from 'node:crypto';
import { TailraceError } from '@tailrace/errors';
import type { Admin, Consumer, EachBatchPayload } from 'kafkajs';
import type { KafkaLog } from './log.ts';
import { topicOffsets, topicOffsetsSince } from './offsets.ts';
import { fetchedRecords, toRecord, type ConsumedRecord } from './record.ts';
import { startSession } from './session.ts';
import type { ReportUnreadable } from './unreadable.ts';

export interface ScanOptions {
  readonly topic: string;
  /** Begins in each partition with its first record of this time or later; milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** Begins in each partition at this offset, or after; partitions that are not here are not read. */
  readonly starts?: ReadonlyMap<number, number> | undefined;
  /** Ends in each partition before this offset, as another scan's `ends` had it; by default where it ends now. */
  readonly ends?: ReadonlyMap<number, number> | undefined;
}

/**
 * Yields records in the order of their partition, as many at a time as were fetched together. To be iterated
 * once; leaving the loop closes it.
 *
 * @throws TailraceError (from the iteration) `kafka-unavailable` where Kafka brought nothing for 30 s
 */
export interface Scan extends AsyncIterable<readonly ConsumedRecord[]> {
  /** Where it ends, by partition: the offset after the last. */
  readonly ends: ReadonlyMap<number, number>;
  /** In offsets, some of which may hold no record. */
  readonly progress: { readonly read: number; readonly total: number };
  close(): Promise<void>;
}

export interface ScanDependencies {
  readonly createConsumer: (groupId: string) => Consumer;
  readonly admin: Admin;
  readonly classify: (error: unknown) => unknown;
  readonly log: KafkaLog;
  readonly reportUnreadable: ReportUnreadable;
}

/** Fetching pauses beyond the one and goes on below the other; a fetch may go beyond by what it brings. */
const bufferBytes = { most: 8 * 2 ** 20, least: 2 * 2 ** 20 };
/** What is missing may have expired meanwhile, which no fetch tells. */
const lookAgainAfterMs = 2_000;
const giveUpAfterMs = 30_000;
const leaveTimeoutMs = 2_000;

interface Span {
  readonly partition: number;
  readonly start: number;
  readonly end: number;
  next: number;
}

export async function startScan(
  { createConsumer, admin, classify, log, reportUnreadable }: ScanDependencies,
  options: ScanOptions,
): Promise<Scan> {
  const { topic } = options;
  const spans = await spansOf(admin, options).catch((error: unknown) => {
    throw classify(error);
  });
  const unread = (): Span[] => [...spans.values()].filter(({ next, end }) => next < end);
  const read: ConsumedRecord[][] = [];
  let bytesRead = 0;
  let held = false;
  let closed = false;
  let lastProgressAt = performance.now();
  let wake: (() => void) | undefined;

  const advance = (span: Span, next: number): void => {
    if (next <= span.next) return;
    span.next = Math.min(next, span.end);
    lastProgressAt = performance.now();
    if (span.next === span.end) session?.pause([{ topic, partition: span.partition }]);
    wake?.();
  };

  const onBatch = (payload: EachBatchPayload): void => {
    const { batch } = payload;
    const span = spans.get(batch.partition);
    payload.resolveOffset(batch.lastOffset());
    if (!span || closed) return;
    const records: ConsumedRecord[] = [];
    const { partition } = span;
    for (const fetched of fetchedRecords(batch)) {
      if (fetched.offset < span.next || fetched.offset >= span.end) continue;
      if (fetched.unreadable) {
        reportUnreadable({ topic, partition, ...fetched.unreadable });
        continue;
      }
      records.push(toRecord(topic, partition, fetched));
      bytesRead += sizeOf(fetched);
    }
    if (records.length > 0) read.push(records);
    advance(span, Number(batch.lastOffset()) + 1);
    if (bytesRead > bufferBytes.most && !held) {
      held = true;
      session?.pause(unread().map(({ partition }) => ({ topic, partition })));
    }
  };

  const take = (): ConsumedRecord[] | undefined => {
    const records = read.shift();
    for (const record of records ?? []) bytesRead -= sizeOf(record);
    if (held && bytesRead < bufferBytes.least) {
      held = false;
      lastProgressAt = performance.now();
      session?.resume(unread().map(({ partition }) => ({ topic, partition })));
    }
    return records;
  };

  const open = () => {
    const consumer = createConsumer(`${topic}.scan.${randomUUID()}`);
    const session = startSession({
      consumer,
      topics: [topic],
      classify,
      log,
      fields: { topic },
      onBatch,
      onJoin(_memberId, assignment) {
        // Nothing is committed, so the library would begin anew.
        for (const partition of assignment[topic] ?? []) {
          const span = spans.get(partition);
          if (held || !span || span.next >= span.end) session.pause([{ topic, partition }]);
          if (span) session.seek({ topic, partition }, span.next);
        }
      },
    });
    // A batch of nothing but transaction markers or aborted records is told of, and never handed over.
    consumer.on(consumer.events.START_BATCH_PROCESS, ({ payload }) => {
      const span = spans.get(payload.partition);
      if (payload.batchSize === 0 && span) advance(span, Number(payload.lastOffset) + 1);
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

  /** Resolves when something was read, or when it is time to look again. */
  const somethingRead = async (): Promise<void> => {
    const timer = setTimeout(() => wake?.(), lookAgainAfterMs);
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
    clearTimeout(timer);
    const idleMs = performance.now() - lastProgressAt;
    if (idleMs >= giveUpAfterMs) {
      throw new TailraceError(
        'kafka-unavailable',
        `Kafka brought nothing of ${topic} for ${giveUpAfterMs / 1_000} s. Check that the brokers run, and that ` +
          `the user may read the topic in consumer groups whose names begin with ${topic}.scan.`,
      );
    }
    if (idleMs < lookAgainAfterMs) return;
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
          const records = take();
          if (records) yield records;
          else if (unread().length === 0) return;
          else await somethingRead();
        }
      } finally {
        await close();
      }
    },
  };
}

async function spansOf(
  admin: Admin,
  { topic, since, starts: from, ends }: ScanOptions,
): Promise<Map<number, Span>> {
  const starts = new Map(from);
  if (since !== undefined) {
    for (const { partition, offset } of await topicOffsetsSince(admin, topic, since)) {
      starts.set(partition, Number(offset));
    }
  }
  const spans = new Map<number, Span>();
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
