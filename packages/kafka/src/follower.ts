/**
 * Follows a whole topic from its beginning, live, and can tell when it has read to the end the topic has now.
 * For compacted topics that every process needs in full. It commits nothing: the group exists only because the
 * client library reads through groups, is named after this process alone, and vanishes with it.
 */
import { randomUUID } from 'node:crypto';
import { TailraceError } from '@tailrace/errors';
import type { Admin, Consumer, KafkaMessage } from 'kafkajs';
import type { KafkaLog } from './log.ts';
import type { ConsumedRecord } from './record.ts';

export interface FollowOptions {
  readonly topic: string;
  /** Called for each record in the order of its partition, each offset once. Must not throw. */
  readonly onRecord: (record: ConsumedRecord) => void;
}

export interface Follower {
  /** Whether it reached Kafka lately. */
  readonly healthy: boolean;
  /**
   * Resolves once everything was read that the topic held when this was called.
   *
   * @throws TailraceError `kafka-unavailable` where Kafka does not say how far the topic goes
   */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

export interface FollowerDependencies {
  readonly createConsumer: (groupId: string) => Consumer;
  readonly admin: Admin;
  readonly classify: (error: unknown) => unknown;
  readonly log: KafkaLog;
  readonly toRecord: (topic: string, partition: number, message: KafkaMessage) => ConsumedRecord;
}

/** Idle fetches last this long; a new record ends one at once. */
export const followerMaxWaitMs = 500;
const unhealthyAfterMs = 10_000;
const retryPauseMs = 1_000;
/**
 * Compaction may have removed the last records of a topic, and then no record ever arrives from just below its
 * end. This many fetches that bring nothing, one after another, are taken for the end as well.
 */
const emptyFetchesAtEnd = 6;

interface Waiter {
  readonly ends: ReadonlyMap<number, number>;
  fetchesLeft: number;
  readonly resolve: () => void;
}

export async function startFollower(
  { createConsumer, admin, classify, log, toRecord }: FollowerDependencies,
  { topic, onRecord }: FollowOptions,
): Promise<Follower> {
  const consumer = createConsumer(`${topic}.follower.${randomUUID()}`);
  const positions = new Map<number, number>();
  let waiters: Waiter[] = [];
  let lastFetchAt = 0;
  let closed = false;

  const settleWaiters = (): void => {
    waiters = waiters.filter((waiter) => {
      const reached = [...waiter.ends].every(([partition, end]) => (positions.get(partition) ?? 0) >= end);
      if (!reached && waiter.fetchesLeft > 0) return true;
      waiter.resolve();
      return false;
    });
  };

  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    const assigned = (payload.memberAssignment as unknown as Record<string, number[]>)[topic] ?? [];
    for (const partition of assigned) {
      const position = positions.get(partition);
      // Nothing is committed, so the library would begin anew and show old values again.
      if (position !== undefined) consumer.seek({ topic, partition, offset: String(position) });
    }
  });
  consumer.on(consumer.events.FETCH, () => {
    lastFetchAt = performance.now();
    for (const waiter of waiters) waiter.fetchesLeft -= 1;
    settleWaiters();
  });
  consumer.on(consumer.events.CRASH, ({ payload }) => {
    const failure = classify(payload.error);
    lastFetchAt = 0;
    if (!(failure instanceof TailraceError)) {
      queueMicrotask(() => {
        throw failure;
      });
      return;
    }
    log.warn({ err: failure, topic }, 'following lost Kafka; it will come back');
    if (!payload.restart && !closed) setTimeout(() => void run(), retryPauseMs);
  });

  const run = async (): Promise<void> => {
    while (!closed) {
      try {
        await consumer.connect();
        await consumer.subscribe({ topics: [topic], fromBeginning: true });
        await consumer.run({
          autoCommit: false,
          eachBatch: ({ batch }) => {
            for (const message of batch.messages) {
              const offset = Number(message.offset);
              if (offset < (positions.get(batch.partition) ?? 0)) continue;
              positions.set(batch.partition, offset + 1);
              onRecord(toRecord(topic, batch.partition, message));
            }
            const next = Number(batch.lastOffset()) + 1;
            positions.set(batch.partition, Math.max(positions.get(batch.partition) ?? 0, next));
            for (const waiter of waiters) waiter.fetchesLeft = emptyFetchesAtEnd;
            settleWaiters();
            return Promise.resolve();
          },
        });
        return;
      } catch (error) {
        log.warn({ err: classify(error), topic }, 'cannot follow the topic yet; trying again');
        await new Promise((resolve) => setTimeout(resolve, retryPauseMs));
      }
    }
  };

  const refresh = async (): Promise<void> => {
    let offsets: Awaited<ReturnType<Admin['fetchTopicOffsets']>>;
    try {
      offsets = await admin.fetchTopicOffsets(topic);
    } catch (error) {
      throw classify(error);
    }
    const ends = new Map(
      offsets.filter(({ high, low }) => high !== low).map(({ partition, high }) => [partition, Number(high)]),
    );
    await new Promise<void>((resolve) => {
      waiters.push({ ends, fetchesLeft: emptyFetchesAtEnd, resolve });
      settleWaiters();
    });
  };

  await run();
  await refresh();
  return {
    get healthy() {
      return !closed && lastFetchAt > 0 && performance.now() - lastFetchAt < unhealthyAfterMs;
    },
    refresh,
    async close() {
      closed = true;
      await consumer.disconnect();
      for (const waiter of waiters) waiter.resolve();
      waiters = [];
    },
  };
}
