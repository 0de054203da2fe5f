/**
 * A group consumer that hands records out as they come, lets them finish in any order, and commits only up to
 * the lowest unfinished one.
 *
 * How it uses the client library: a fetched batch is handed out at once, in one turn of the event loop, and the
 * library goes on fetching and beating its heart; a partition with too much unfinished work is paused. Offsets
 * are committed by us alone, on a timer.
 *
 * Rebalances. While the member id stays the same, this member has been in every generation, and nobody else can
 * have owned a partition that it had before and after; so such a partition keeps its watermark and its work, and
 * reads on where it was. A lost partition's work is marked lost and never committed. A new partition starts from
 * the group's committed offset, which we look up ourselves: the library may still hand over a batch of an
 * earlier generation, and only a batch that was fetched from where the watermark stands is taken.
 */
import { TailraceError } from '@tailrace/errors';
import type { Admin, Consumer, EachBatchPayload, KafkaMessage } from 'kafkajs';
import type { KafkaLog } from './log.ts';
import { Partition } from './partition.ts';
import { lastOfEach, type ConsumedRecord } from './record.ts';

export interface ConsumeOptions {
  readonly groupId: string;
  readonly topics: readonly string[];
  /**
   * Called for each record, in the order of its partition. Must not throw and should not block: it starts the
   * work, which calls `record.done()` when it is finished.
   */
  readonly onRecord: (record: TrackedRecord) => void;
  /** Unfinished work of one partition beyond which it is paused; by default 1,000 records or 4 MB. */
  readonly limits?: (topic: string) => PartitionLimits;
  /** Finished work is committed this often; what finished since is repeated after a crash. Default 400 ms. */
  readonly commitIntervalMs?: number;
  /** Whether the same member must own partition i of every topic (they must have equally many). */
  readonly coPartitioned?: boolean;
}

export interface PartitionLimits {
  readonly records: number;
  readonly bytes: number;
}

/** A record handed out, which counts as unfinished until `done()`. */
export interface TrackedRecord extends ConsumedRecord {
  /** The partition belongs to another member now: drop the work, it will be done there. */
  readonly lost: boolean;
  /** Call once, when nothing would be missing if this record were never seen again. */
  done(): void;
}

export interface PartitionState {
  readonly topic: string;
  readonly partition: number;
  /** Records handed out and unfinished, or finished behind an unfinished one. */
  readonly uncommitted: number;
  /** Records between the watermark and the end of the partition, as of the last fetch. */
  readonly lag: number;
}

export interface Consumption {
  /** Whether it is in the group and fetches. */
  readonly healthy: boolean;
  /** Rejects, with the reason, where it is not healthy. */
  check(): Promise<void>;
  readonly partitions: readonly PartitionState[];
  /** Hands out nothing more; what is out may finish. */
  stopTaking(): void;
  /** stopTaking(), then waits until all work is finished, for at most `drainTimeoutMs` (default 0); commits and leaves. */
  close(options?: { drainTimeoutMs?: number }): Promise<void>;
}

export const defaultLimits: PartitionLimits = { records: 1_000, bytes: 4 * 1024 * 1024 };

/** The library notices a resumed partition only after a fetch that long; it bounds idle fetches to ten a second. */
export const maxWaitMs = 100;

const unhealthyAfterMs = 10_000;
const restartAfterMs = 2_000;

export interface ConsumptionDependencies {
  readonly consumer: Consumer;
  readonly admin: Admin;
  readonly classify: (error: unknown) => unknown;
  readonly log: KafkaLog;
  /** Told to the assigner at each join. */
  readonly owned: Set<number>;
}

export async function startConsumption(
  { consumer, admin, classify, log, owned }: ConsumptionDependencies,
  options: ConsumeOptions,
): Promise<Consumption> {
  const { groupId, topics, onRecord, limits = () => defaultLimits, commitIntervalMs = 400 } = options;
  const partitions = new Map<string, Partition>();
  let memberId: string | undefined;
  let lastFetchAt = 0;
  let taking = true;
  let closed = false;
  let commitOffsets: EachBatchPayload['commitOffsetsIfNecessary'] | undefined;
  let commit: Promise<void> = Promise.resolve();
  let wakeDrain: (() => void) | undefined;
  let restartTimer: NodeJS.Timeout | undefined;

  const pause = (list: readonly Partition[]): void => {
    for (const { topic, partition } of list) consumer.pause([{ topic, partitions: [partition] }]);
  };
  const resume = (list: readonly Partition[]): void => {
    for (const { topic, partition } of list) consumer.resume([{ topic, partitions: [partition] }]);
  };

  /** Runs inside the library's join, before anything is fetched for the new generation. */
  const onJoin = (newMemberId: string, assignment: Record<string, number[]>): void => {
    const continuous = memberId === newMemberId;
    memberId = newMemberId;
    const assigned = Object.entries(assignment).flatMap(([topic, numbers]) =>
      numbers.map((partition) => ({ topic, partition, key: keyOf(topic, partition) })),
    );
    const kept = new Set(continuous ? assigned.map(({ key }) => key) : []);
    for (const [key, partition] of partitions) {
      if (kept.has(key)) continue;
      partition.lose();
      partitions.delete(key);
      consumer.resume([{ topic: partition.topic, partitions: [partition.partition] }]);
    }
    const fresh: Partition[] = [];
    for (const { topic, partition: number, key } of assigned) {
      const known = partitions.get(key);
      if (known) {
        if (known.located) consumer.seek({ topic, partition: number, offset: String(known.next) });
        else fresh.push(known);
        if (known.paused) pause([known]);
        continue;
      }
      const partition = new Partition(topic, number, limits(topic));
      partitions.set(key, partition);
      fresh.push(partition);
    }
    owned.clear();
    for (const { partition } of assigned) owned.add(partition);
    log.debug({ groupId, assignment, kept: kept.size, fresh: fresh.length }, 'joined the consumer group');
    pause(fresh);
    wakeDrain?.();
    void locate(fresh);
  };

  /** Finds where new partitions start, then lets them be fetched. Tried until it works or they are lost. */
  const locate = async (fresh: readonly Partition[]): Promise<void> => {
    let waiting = fresh;
    while (waiting.length > 0 && !closed) {
      try {
        const starts = await startOffsets(admin, groupId, waiting);
        waiting = waiting.filter(({ lost }) => !lost);
        for (const partition of waiting) {
          partition.start(starts.get(keyOf(partition.topic, partition.partition)) ?? 0);
          consumer.seek({
            topic: partition.topic,
            partition: partition.partition,
            offset: String(partition.next),
          });
        }
        if (taking) resume(waiting);
        return;
      } catch (error) {
        log.warn({ err: classify(error), groupId }, 'could not read committed offsets; trying again');
        await new Promise((resolve) => setTimeout(resolve, 250));
        waiting = waiting.filter(({ lost }) => !lost);
      }
    }
  };

  const onBatch = (payload: EachBatchPayload): void => {
    const { batch } = payload;
    commitOffsets = (offsets) => payload.commitOffsetsIfNecessary(offsets);
    const partition = partitions.get(keyOf(batch.topic, batch.partition));
    if (!partition?.located || !taking) return;
    const fetchedFrom = Number((batch as unknown as { fetchedOffset: string }).fetchedOffset);
    if (fetchedFrom > partition.next) {
      void relocate(partition);
      return;
    }
    partition.end = Number(batch.highWatermark);
    for (const message of batch.messages) {
      if (Number(message.offset) < partition.next) continue;
      handOut(partition, message);
    }
    partition.skipTo(Number(batch.lastOffset()) + 1);
    payload.resolveOffset(batch.lastOffset());
    if (partition.full && !partition.paused) {
      partition.paused = true;
      pause([partition]);
    }
  };

  const handOut = (partition: Partition, message: KafkaMessage): void => {
    const bytes = (message.key?.length ?? 0) + (message.value?.length ?? 0);
    const mark = partition.handOut(Number(message.offset), bytes);
    let finished = false;
    onRecord({
      topic: partition.topic,
      partition: partition.partition,
      offset: mark.offset,
      timestamp: Number(message.timestamp),
      key: message.key,
      value: message.value,
      headers: lastOfEach(message.headers),
      get lost() {
        return partition.lost;
      },
      done() {
        if (finished || partition.lost) return;
        finished = true;
        partition.finish(mark, bytes);
        if (partition.paused && partition.roomy && taking) {
          partition.paused = false;
          resume([partition]);
        }
        wakeDrain?.();
      },
    });
  };

  /**
   * The library read from beyond where we stand: a batch of an earlier generation, or records that the topic's
   * retention removed before they were read, in which case it went to what is left.
   */
  const relocate = async (partition: Partition): Promise<void> => {
    const { topic, partition: number } = partition;
    try {
      const low = (await admin.fetchTopicOffsets(topic)).find((entry) => entry.partition === number)?.low;
      if (partition.lost) return;
      const missing = Number(low ?? 0) - partition.next;
      if (missing > 0) {
        log.error({ topic, partition: number, missing }, 'records expired before they were read');
        partition.skipTo(Number(low));
      }
      consumer.seek({ topic, partition: number, offset: String(partition.next) });
    } catch (error) {
      log.warn(
        { err: classify(error), topic, partition: number },
        'could not find where the partition begins',
      );
    }
  };

  /** Commits what has moved. Never retried as it is: the next one says more, and this one may be of a past generation. */
  const commitNow = async (): Promise<void> => {
    const moved = [...partitions.values()].filter((partition) => partition.committable > partition.committed);
    if (moved.length === 0 || !commitOffsets) return;
    const byTopic = Map.groupBy(moved, ({ topic }) => topic);
    const watermarks = new Map(moved.map((partition) => [partition, partition.committable]));
    try {
      await commitOffsets({
        topics: [...byTopic].map(([topic, list]) => ({
          topic,
          partitions: list.map((moved) => ({
            partition: moved.partition,
            offset: String(watermarks.get(moved)),
          })),
        })),
      });
      for (const [partition, offset] of watermarks) partition.committed = offset;
    } catch (error) {
      log.debug({ err: error, groupId }, 'offsets not committed this time');
    }
  };
  const commitInTurn = (): Promise<void> => (commit = commit.then(commitNow));

  const run = (): Promise<void> =>
    consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      eachBatch: (payload) => {
        onBatch(payload);
        return Promise.resolve();
      },
    });

  const joined = new Promise<void>((resolve) => {
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
      onJoin(payload.memberId, payload.memberAssignment);
      resolve();
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
      log.warn(
        { err: failure, groupId, restart: payload.restart },
        'the consumer lost Kafka; it will come back',
      );
      if (!payload.restart && !closed) {
        restartTimer = setTimeout(() => {
          void connectAndRun();
        }, restartAfterMs);
      }
    });
  });
  consumer.on(consumer.events.FETCH, () => {
    lastFetchAt = performance.now();
  });
  // A batch of nothing but transaction markers or aborted records is never handed over; step over it as the library does.
  consumer.on(consumer.events.START_BATCH_PROCESS, ({ payload }) => {
    const partition = partitions.get(keyOf(payload.topic, payload.partition));
    if (payload.batchSize > 0 || !partition?.located || Number(payload.firstOffset) > partition.next) return;
    partition.skipTo(Number(payload.lastOffset) + 1);
  });
  consumer.on(consumer.events.REBALANCING, () => {
    void commitInTurn();
  });

  const connectAndRun = async (): Promise<void> => {
    while (!closed) {
      try {
        await consumer.connect();
        await consumer.subscribe({ topics: [...topics], fromBeginning: true });
        await run();
        return;
      } catch (error) {
        log.warn({ err: classify(error), groupId }, 'cannot consume yet; trying again');
        await new Promise((resolve) => setTimeout(resolve, restartAfterMs));
      }
    }
  };

  void connectAndRun();
  await joined;
  const commitTimer = setInterval(() => void commitInTurn(), commitIntervalMs);

  const unfinished = (): number => {
    let sum = 0;
    for (const partition of partitions.values()) sum += partition.unfinished;
    return sum;
  };

  const stopTaking = (): void => {
    if (!taking) return;
    taking = false;
    pause([...partitions.values()]);
  };

  const healthy = (): boolean =>
    !closed && lastFetchAt > 0 && performance.now() - lastFetchAt < unhealthyAfterMs;

  return {
    get healthy() {
      return healthy();
    },
    check: () =>
      healthy()
        ? Promise.resolve()
        : Promise.reject(
            new TailraceError('kafka-unavailable', `The consumer of ${groupId} gets nothing from Kafka.`),
          ),
    get partitions() {
      return [...partitions.values()].map(({ topic, partition, uncommitted, lag }) => ({
        topic,
        partition,
        uncommitted,
        lag,
      }));
    },
    stopTaking,
    async close({ drainTimeoutMs = 0 } = {}) {
      stopTaking();
      if (drainTimeoutMs > 0 && unfinished() > 0) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, drainTimeoutMs);
          wakeDrain = () => {
            if (unfinished() > 0) return;
            clearTimeout(timer);
            resolve();
          };
        });
      }
      clearInterval(commitTimer);
      await commitInTurn();
      closed = true;
      clearTimeout(restartTimer);
      for (const partition of partitions.values()) partition.lose();
      await consumer.disconnect();
    },
  };
}

function keyOf(topic: string, partition: number): string {
  return `${topic}/${partition}`;
}

/** Where the group continues: its committed offset, or the beginning of the partition where there is none. */
async function startOffsets(
  admin: Admin,
  groupId: string,
  wanted: readonly Partition[],
): Promise<Map<string, number>> {
  const topics = [...new Set(wanted.map(({ topic }) => topic))];
  const starts = new Map<string, number>();
  const committed = await admin.fetchOffsets({ groupId, topics });
  for (const { topic, partitions } of committed) {
    const uncommitted = partitions.some(({ offset }) => Number(offset) < 0);
    const beginnings = uncommitted ? await admin.fetchTopicOffsets(topic) : [];
    for (const { partition, offset } of partitions) {
      const beginning = beginnings.find((entry) => entry.partition === partition)?.low;
      starts.set(keyOf(topic, partition), Number(offset) < 0 ? Number(beginning ?? 0) : Number(offset));
    }
  }
  return starts;
}
