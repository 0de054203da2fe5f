/**
 * Follows a whole topic from its beginning, live, and can tell when it has read to the end the topic has now.
 * For compacted topics that every process needs in full. It commits nothing: the group exists only because the
 * client library reads through groups, is named after this process alone, and vanishes with it.
 */
import { randomUUID } from 'node:crypto';
import type { Admin, Consumer, EachBatchPayload } from 'kafkajs';
import type { KafkaLog } from './log.ts';
import { topicOffsets, type TopicOffsets } from './offsets.ts';
import { fetchedRecords, toRecord, type ConsumedRecord } from './record.ts';
import { startSession } from './session.ts';
import type { ReportUnreadable } from './unreadable.ts';

export interface FollowOptions {
  readonly topic: string;
  /** Called for each record in the order of its partition, each offset once. Must not throw. */
  readonly onRecord: (record: ConsumedRecord) => void;
}

export interface Follower {
  /** Whether brokers answered it lately. */
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
  readonly reportUnreadable: ReportUnreadable;
}

/** Idle fetches last this long; a new record ends one at once. */
export const followerMaxWaitMs = 500;
/**
 * After a crash the library joins as a new member, and Kafka first waits this long for the old one, which was
 * the same process. The least that brokers allow by default.
 */
export const followerSessionTimeoutMs = 6_000;
/** Nothing is lost where it does not leave in time: there is nothing to commit, and its group is its own. */
const leaveTimeoutMs = 2_000;
/**
 * Compaction may have removed the last records of a topic, and then no record ever arrives from just below its
 * end. A fetch that lasted its whole time and brought nothing says that its broker has no more; this many, one
 * after another and from each broker, are taken for the end. (A fetch that fails is over at once.)
 */
const idleFetchesAtEnd = 2;
/**
 * For a partition of which nothing came yet this takes longer than a partition that has no leader goes unnoticed: until
 * then no fetch names it.
 */
const idleFetchesAtEndOfUnread = 40;

interface Waiter {
  readonly ends: ReadonlyMap<number, number>;
  readonly idleFetches: Map<string, number>;
  readonly resolve: () => void;
}

export async function startFollower(
  { createConsumer, admin, classify, log, reportUnreadable }: FollowerDependencies,
  { topic, onRecord }: FollowOptions,
): Promise<Follower> {
  const consumer = createConsumer(`${topic}.follower.${randomUUID()}`);
  const positions = new Map<number, number>();
  const fetchedFrom = new Set<string>();
  let waiters: Waiter[] = [];

  const position = (partition: number): number => positions.get(partition) ?? 0;

  const settleWaiters = (): void => {
    waiters = waiters.filter(({ ends, idleFetches, resolve }) => {
      const reached = [...ends].every(([partition, end]) => position(partition) >= end);
      const isUnread = [...ends.keys()].some((partition) => !positions.has(partition));
      const wanted = isUnread ? idleFetchesAtEndOfUnread : idleFetchesAtEnd;
      const idle =
        fetchedFrom.size > 0 && [...fetchedFrom].every((broker) => (idleFetches.get(broker) ?? 0) >= wanted);
      if (reached || idle) resolve();
      return !reached && !idle;
    });
  };

  const startCounting = (): void => {
    for (const { idleFetches } of waiters) idleFetches.clear();
  };

  const onBatch = (payload: EachBatchPayload): void => {
    const { batch } = payload;
    const { partition } = batch;
    // The topic was made anew: what it holds now replaces what was read of the old one.
    if (Number(batch.highWatermark) < position(partition)) positions.delete(partition);
    for (const fetched of fetchedRecords(batch)) {
      if (fetched.offset < position(partition)) continue;
      positions.set(partition, fetched.offset + 1);
      if (fetched.unreadable) reportUnreadable({ topic, partition, ...fetched.unreadable });
      else onRecord(toRecord(topic, partition, fetched));
    }
    positions.set(partition, Math.max(position(partition), Number(batch.lastOffset()) + 1));
    payload.resolveOffset(batch.lastOffset());
    startCounting();
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
      // Nothing is committed, so the library would begin anew and show old values again.
      for (const [partition, offset] of positions) session.seek({ topic, partition }, offset);
      fetchedFrom.clear();
      startCounting();
    },
  });
  consumer.on(consumer.events.REQUEST, ({ payload: { apiName, broker, duration } }) => {
    if (apiName !== 'Fetch') return;
    fetchedFrom.add(broker);
    if (duration < followerMaxWaitMs * 0.9) return;
    for (const { idleFetches } of waiters) idleFetches.set(broker, (idleFetches.get(broker) ?? 0) + 1);
    settleWaiters();
  });

  // A batch of nothing but transaction markers or aborted records is told of, and never handed over.
  consumer.on(consumer.events.START_BATCH_PROCESS, ({ payload }) => {
    if (payload.batchSize > 0) return;
    positions.set(payload.partition, Math.max(position(payload.partition), Number(payload.lastOffset) + 1));
    settleWaiters();
  });

  const refresh = async (): Promise<void> => {
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
  };

  const close = async (): Promise<void> => {
    await session.end({ timeoutMs: leaveTimeoutMs });
    for (const waiter of waiters) waiter.resolve();
    waiters = [];
  };

  await session.joined;
  try {
    await refresh();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    get healthy() {
      return session.healthy;
    },
    refresh,
    close,
  };
}
