/**
 * Reads a whole topic from its beginning, follows it live, and knows when it has reached the current end. For compacted
 * topics that every process needs in full.
 */
import { randomUUID } from 'node:crypto';
import { TailraceError } from '@tailrace/errors';
import { topicOffsets, type TopicOffsets } from '../admin/offsets.ts';
import { toRecord } from '../fetched-record.ts';
import type { ConsumedRecord } from '../record.ts';
import { startSession, unlessClosing, type Processing } from '../session.ts';
import type { FetchedBatch } from '../wire/fetched-batch.ts';
import { leaveTimeoutMs, type ReaderDependencies } from './reader.ts';

export interface FollowOptions {
  readonly topic: string;
  /** Called once for each record, in the order of its partition. Must not throw. */
  readonly onRecord: (record: ConsumedRecord) => void;
}

export interface Follower {
  /** Whether brokers have answered within the last 10 s. */
  readonly healthy: boolean;
  /** Milliseconds since everything was last known to be read. */
  readonly ageMs: number;
  /**
   * Resolves once all records are read that the topic had when this was called.
   *
   * @throws TailraceError `kafka-unavailable` if the end offsets cannot be looked up
   */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

/** How long a fetch waits for records. A new record ends it immediately. */
export const followerMaxWaitMs = 500;
/** The minimum that brokers allow by default. A group of which the process was killed ends after it. */
export const followerSessionTimeoutMs = 6_000;
/**
 * Compaction may remove the last records of a topic, so that the offset before its end never arrives. A fetch that waits its
 * full time and brings nothing shows that its broker has no more records. This number of such fetches in a row, from each
 * broker, counts as the end. (A fetch that fails ends immediately.)
 */
const idleFetchesAtEnd = 2;
/**
 * The same for a partition of which nothing has been read. It may have no leader, and then no fetch includes it until the
 * library refreshes its metadata. This number takes longer than that.
 */
const idleFetchesAtEndOfUnread = 40;

interface Waiter {
  readonly ends: ReadonlyMap<number, number>;
  readonly idleFetches: Map<string, number>;
  readonly resolve: () => void;
}

export async function startFollower(
  { createConsumer, admin, classify, log, reportUnreadable, closing }: ReaderDependencies,
  { topic, onRecord }: FollowOptions,
): Promise<Follower> {
  /** By partition, when a fetch last showed that there was nothing more to read. */
  const atEndAt = new Map<number, number>();
  let refreshedAt = performance.now();
  const atEnd = (partition: number): void => {
    atEndAt.set(partition, performance.now());
  };
  const consumer = createConsumer(`${topic}.follower.${randomUUID()}`, {
    onAnswer({ partition, isAtEnd }) {
      if (isAtEnd) atEnd(partition);
    },
  });
  const positions = new Map<number, number>();
  const fetchedFrom = new Set<string>();
  let waiters: Waiter[] = [];

  const position = (partition: number): number => positions.get(partition) ?? 0;

  const settleWaiters = (): void => {
    waiters = waiters.filter(({ ends, idleFetches, resolve }) => {
      const reached = [...ends].every(([partition, end]) => position(partition) >= end);
      const hasUnread = [...ends.keys()].some((partition) => !positions.has(partition));
      const required = hasUnread ? idleFetchesAtEndOfUnread : idleFetchesAtEnd;
      const idle =
        fetchedFrom.size > 0 &&
        [...fetchedFrom].every((broker) => (idleFetches.get(broker) ?? 0) >= required);
      if (reached || idle) resolve();
      return !reached && !idle;
    });
  };

  const restartCounts = (): void => {
    for (const { idleFetches } of waiters) idleFetches.clear();
  };

  const onBatch = (batch: FetchedBatch, processing: Processing): void => {
    const { partition } = batch;
    // The topic was deleted and created again. Its new records replace the old ones.
    if (Number(batch.highWatermark) < position(partition)) positions.delete(partition);
    for (const fetched of batch.messages) {
      if (fetched.offset < position(partition)) continue;
      positions.set(partition, fetched.offset + 1);
      if (fetched.unreadable) reportUnreadable({ topic, partition, ...fetched.unreadable });
      else onRecord(toRecord(topic, partition, fetched));
    }
    positions.set(partition, Math.max(position(partition), batch.lastOffset() + 1));
    processing.resolveOffset(String(batch.lastOffset()));
    if (position(partition) >= Number(batch.highWatermark)) atEnd(partition);
    restartCounts();
    settleWaiters();
  };

  const session = startSession({
    consumer,
    topics: [topic],
    classify,
    log,
    fields: { topic },
    onBatch,
    onJoin() {
      // Nothing is committed, so the library would start at the beginning and repeat old values.
      for (const [partition, offset] of positions) session.seek({ topic, partition }, offset);
      fetchedFrom.clear();
      restartCounts();
    },
  });
  consumer.on(consumer.events.REQUEST, ({ payload: { apiName, broker, duration } }) => {
    if (apiName !== 'Fetch') return;
    fetchedFrom.add(broker);
    if (duration < followerMaxWaitMs * 0.9) return;
    for (const { idleFetches } of waiters) idleFetches.set(broker, (idleFetches.get(broker) ?? 0) + 1);
    settleWaiters();
  });

  const refresh = async (): Promise<void> => {
    const startedAt = performance.now();
    let offsets: TopicOffsets[];
    try {
      offsets = await topicOffsets(admin, topic);
    } catch (error) {
      throw classify(error);
    }
    const ends = new Map(
      offsets.filter(({ high, low }) => high !== low).map(({ partition, high }) => [partition, Number(high)]),
    );
    await new Promise<void>((resolve) => {
      waiters.push({ ends, idleFetches: new Map(), resolve });
      settleWaiters();
    });
    refreshedAt = startedAt;
  };

  const close = async (): Promise<void> => {
    await session.end({ timeoutMs: leaveTimeoutMs });
    for (const waiter of waiters) waiter.resolve();
    waiters = [];
  };

  const open = async (): Promise<void> => {
    await session.joined;
    await refresh();
    if (closing.aborted) throw new TailraceError('shutting-down');
  };
  try {
    await unlessClosing(closing, close, open());
  } catch (error) {
    await close();
    throw error;
  }
  return {
    get healthy() {
      return session.healthy;
    },
    get ageMs() {
      const allAtEndAt = atEndAt.size > 0 ? Math.min(...atEndAt.values()) : -Infinity;
      return performance.now() - Math.max(refreshedAt, allAtEndAt);
    },
    refresh,
    close,
  };
}
