/**
 * A group consumer that hands records out as they come, lets them finish in any order, and commits only up to
 * the lowest unfinished one; what is finished above that is noted beside the offset, so that it is not repeated.
 *
 * How it uses the client library: a fetched batch is handed out at once, in one turn of the event loop, and the
 * library goes on fetching; a partition with too much unfinished work is paused. Offsets are committed by us alone, on a
 * timer. What happens in a rebalance is for assignment.ts to say.
 */
import { TailraceError } from '@tailrace/errors';
import type { Admin, Consumer, EachBatchPayload } from 'kafkajs';
import { createAssignment, type PreparePartitions } from './assignment.ts';
import { createCommitter } from './commits.ts';
import type { KafkaLog } from './log.ts';
import { pace, type Pacing } from './pacing.ts';
import type { Partition } from './partition.ts';
import { fetchedRecords, lastOfEach, type ConsumedRecord, type RecordHeader } from './record.ts';
import { startRest } from './rest.ts';
import type { Scan, ScanOptions } from './scan.ts';
import { startSession, type Session } from './session.ts';
import type { ReportUnreadable, UnreadableBatch } from './unreadable.ts';
import type { FetchedRecord } from './wire/record-batch.ts';
import { createUnfinished, type Span } from './unfinished.ts';
import type { Mark } from './watermark.ts';

export interface ConsumeOptions {
  readonly groupId: string;
  readonly topics: readonly string[];
  /**
   * Called for each record, in the order of its partition. Must not throw and should not block: it starts the
   * work, which calls `record.done()` when it is finished.
   */
  readonly onRecord: (record: TrackedRecord) => void;
  /**
   * Called, in the order of the partition, for a batch that cannot be read. It has been reported already. Calls
   * `work.done()` when the batch may be passed over; by default that is immediately.
   */
  readonly onUnreadable?: (batch: UnreadableBatch, work: Work) => void;
  /** Unfinished work of one partition beyond which it is paused; by default 1,000 records or 4 MB. */
  readonly limits?: (topic: string) => PartitionLimits;
  /** Finished work is committed this often; what finished since is repeated after a crash. Default 400 ms. */
  readonly commitIntervalMs?: number;
  /** Called for partitions that became this member's, before anything of them is fetched. */
  readonly prepare?: PreparePartitions;
  /** Whether the same member must own partition i of every topic (they must have equally many). */
  readonly coPartitioned?: boolean;
  /** Topics that are looked into only so often while nothing new is in them, for the sake of the others. */
  readonly idleTopics?: { readonly topics: readonly string[]; readonly everyMs: number };
  /**
   * Called when the group has begun to share out its partitions again, and when this member has its part. Nothing can
   * be committed in between, so what is finished then is repeated where its partition goes to another member. Before,
   * while the group waits for its members, partitions are still this member's, and commits are accepted.
   */
  readonly onRebalance?: (rebalancing: boolean) => void;
}

export interface PartitionLimits {
  readonly records: number;
  readonly bytes: number;
}

/** What is to be done about a record, without its bytes. */
export interface Work {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly timestamp: number;
  /** The partition belongs to another member now: drop the work, it will be done there. */
  readonly revoked: boolean;
  /** Call once, when nothing would be missing if this record were never seen again. */
  done(): void;
}

/** A record handed out, which counts as unfinished until `done()`. */
export interface TrackedRecord extends ConsumedRecord, Work {
  /** For work that waits: a record's bytes are a slice of all that was fetched with it, and keep that in memory. */
  readonly work: Work;
}

export interface PartitionState {
  readonly topic: string;
  readonly partition: number;
  /** Offset after the last that was handed out, or passed over. */
  readonly next: number;
  /** Offset after the last there is, as of the last fetch. */
  readonly end: number;
  /** Records handed out and unfinished, or finished behind an unfinished one. */
  readonly uncommitted: number;
  /** Records between the watermark and the end of the partition, as of the last fetch. */
  readonly lag: number;
}

/** A partition while this member owns it. */
export interface OwnedPartition {
  /** From then on the rest says nothing. */
  readonly revoked: boolean;
  /** Offset after the last that was handed out, or passed over. */
  readonly next: number;
  /** Below this everything is finished. */
  readonly committable: number;
}

export interface Consumption {
  /** Whether it is in the group and brokers answer. */
  readonly healthy: boolean;
  /** Rejects, with the reason, where it is not healthy. */
  check(): Promise<void>;
  readonly partitions: readonly PartitionState[];
  /** One of them, found by its key; undefined where it is not owned. */
  partition(topic: string, partition: number): PartitionState | undefined;
  /**
   * Reads beside the group what is unfinished now in these partitions of a topic, handed out or not. Those that
   * this member does not own are left out. To be iterated once.
   *
   * @param spans by partition, the offsets that are wanted; all, and to the end there is now, where absent
   * @throws TailraceError (from the iteration) `kafka-unavailable`
   */
  unfinished(
    topic: string,
    partitions: readonly number[],
    spans?: ReadonlyMap<number, Span>,
  ): AsyncIterable<readonly ConsumedRecord[]>;
  /** Undefined where it is not owned, or where it begins is not known yet. Another one after it was lost and came back. */
  owned(topic: string, partition: number): OwnedPartition | undefined;
  /**
   * Stops fetching, everything or these topics, until `resume` of the same; what has been fetched may still be handed out.
   */
  pause(topics?: readonly string[]): void;
  resume(topics?: readonly string[]): void;
  /** Hands out nothing more; what is out may finish. */
  stopReceiving(): void;
  /** stopReceiving(), then waits until all work is finished, for at most `drainTimeoutMs` (default 0); commits and leaves. */
  close(options?: { drainTimeoutMs?: number }): Promise<void>;
}

export const defaultLimits: PartitionLimits = { records: 1_000, bytes: 4 * 1024 * 1024 };

export interface ConsumptionDependencies {
  readonly consumer: Consumer;
  readonly admin: Admin;
  readonly classify: (error: unknown) => unknown;
  readonly log: KafkaLog;
  readonly reportUnreadable: ReportUnreadable;
  /** Told to the assigner at each join. */
  readonly owned: Set<number>;
  readonly openScan: (options: ScanOptions) => Promise<Scan>;
  readonly pacing: Pacing;
}

export async function startConsumption(
  { consumer, admin, classify, log, reportUnreadable, owned, openScan, pacing }: ConsumptionDependencies,
  options: ConsumeOptions,
): Promise<Consumption> {
  const {
    groupId,
    topics,
    onRecord,
    onUnreadable = (_batch: UnreadableBatch, work: Work) => {
      work.done();
    },
    limits = () => defaultLimits,
    commitIntervalMs = 400,
    prepare,
    idleTopics,
    onRebalance = () => undefined,
  } = options;
  let taking = true;
  let isPaused = false;
  const pausedTopics = new Set<string>();
  const mayFetch = (topic: string): boolean => taking && !isPaused && !pausedTopics.has(topic);
  let wakeDrain: (() => void) | undefined;

  const assignment = createAssignment({
    groupId,
    admin,
    classify,
    log,
    session: () => session,
    limits,
    mayFetch,
    prepare,
  });
  const { partitions } = assignment;
  const committer = createCommitter(() => partitions, log, { groupId, intervalMs: commitIntervalMs });
  const unfinished = createUnfinished((topic, partition) => assignment.get(topic, partition), openScan);

  const onBatch = (payload: EachBatchPayload): void => {
    const { batch } = payload;
    committer.use((offsets) => payload.commitOffsetsIfNecessary(offsets));
    const partition = assignment.get(batch.topic, batch.partition);
    if (!partition?.located || !taking) return;
    const end = Number(batch.highWatermark);
    if (fetchedFrom(batch) > partition.next || end < partition.next) {
      assignment.relocate(partition);
      return;
    }
    partition.end = end;
    for (const fetched of fetchedRecords(batch)) {
      const { offset } = fetched;
      if (offset < partition.next) continue;
      if (partition.finishedBefore(offset)) partition.passOver(offset);
      else handOut(partition, fetched);
    }
    partition.skipTo(Number(batch.lastOffset()) + 1);
    payload.resolveOffset(batch.lastOffset());
    if (partition.full && !partition.paused) {
      partition.paused = true;
      session.pause([partition]);
    }
  };

  const handOut = (partition: Partition, fetched: FetchedRecord): void => {
    const { offset, timestamp, key, value, unreadable } = fetched;
    const bytes = (key?.length ?? 0) + (value?.length ?? 0);
    const work = new PartitionWork(partition, offset, timestamp, bytes, finished);
    if (!unreadable) {
      onRecord(new HandedOutRecord(work, fetched));
      return;
    }
    const found = { topic: partition.topic, partition: partition.partition, ...unreadable };
    reportUnreadable(found);
    onUnreadable(found, work);
  };

  const finished = (partition: Partition): void => {
    if (partition.paused && partition.roomy) {
      partition.paused = false;
      if (mayFetch(partition.topic)) session.resume([partition]);
    }
    wakeDrain?.();
  };

  const session: Session = startSession({
    consumer,
    topics,
    classify,
    log,
    fields: { groupId },
    onBatch,
    onJoin(memberId, assigned) {
      assignment.onJoin(memberId, assigned);
      owned.clear();
      for (const { partition } of partitions) owned.add(partition);
      committer.start();
      onRebalance(false);
      wakeDrain?.();
    },
  });
  const rest = idleTopics && startRest({ ...{ consumer, session, partitions, mayFetch }, ...idleTopics });
  pace(pacing, { consumer, partitions, mayFetch, rest });
  // A batch of nothing but transaction markers or aborted records is never handed over; step over it as the library does.
  consumer.on(consumer.events.START_BATCH_PROCESS, ({ payload }) => {
    const partition = assignment.get(payload.topic, payload.partition);
    if (payload.batchSize > 0 || !partition?.located) return;
    const first = (payload.firstOffset as string | null) ?? payload.lastOffset;
    if (Number(first) <= partition.next) partition.skipTo(Number(payload.lastOffset) + 1);
  });
  consumer.on(consumer.events.REBALANCING, () => {
    committer.hurry();
  });
  consumer.on(consumer.events.REQUEST, ({ payload: { apiName } }) => {
    if (apiName !== 'JoinGroup') return;
    committer.pause();
    onRebalance(true);
  });
  await session.joined;

  const allFinished = (): boolean => {
    for (const { unfinished } of partitions) if (unfinished > 0) return false;
    return true;
  };

  const drained = (timeoutMs: number): Promise<void> => {
    if (timeoutMs <= 0 || allFinished()) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      wakeDrain = () => {
        if (!allFinished()) return;
        clearTimeout(timer);
        resolve();
      };
    });
  };

  const stopReceiving = (): void => {
    if (!taking) return;
    taking = false;
    session.pause(partitions);
  };

  return {
    get healthy() {
      return session.healthy;
    },
    check: () =>
      session.healthy
        ? Promise.resolve()
        : Promise.reject(
            new TailraceError('kafka-unavailable', `The consumer of ${groupId} gets nothing from Kafka.`),
          ),
    get partitions() {
      return Array.from(partitions, stateOf);
    },
    partition(topic, number) {
      const owned = assignment.get(topic, number);
      return owned && stateOf(owned);
    },
    unfinished: (topic, numbers, spans) => unfinished.read(topic, numbers, spans),
    owned(topic, number) {
      const partition = assignment.get(topic, number);
      return partition?.located ? partition : undefined;
    },
    pause(topics) {
      if (!topics) isPaused = true;
      for (const topic of topics ?? []) pausedTopics.add(topic);
      session.pause([...partitions].filter(({ topic }) => !mayFetch(topic)));
    },
    resume(topics) {
      if (!topics) isPaused = false;
      for (const topic of topics ?? []) pausedTopics.delete(topic);
      const free = [...partitions].filter(
        ({ topic, located, paused }) => located && !paused && mayFetch(topic),
      );
      session.resume(free);
    },
    stopReceiving,
    async close({ drainTimeoutMs = 0 } = {}) {
      stopReceiving();
      rest?.end();
      await unfinished.close();
      await drained(drainTimeoutMs);
      await committer.close();
      assignment.lose();
      await session.end();
    },
  };
}

function stateOf({ topic, partition, next, end, uncommitted, lag }: Partition): PartitionState {
  return { topic, partition, next, end, uncommitted, lag };
}

class PartitionWork implements Work {
  readonly #partition: Partition;
  readonly #mark: Mark;
  readonly #bytes: number;
  readonly #onDone: (partition: Partition) => void;
  readonly timestamp: number;

  constructor(
    partition: Partition,
    offset: number,
    timestamp: number,
    bytes: number,
    onDone: (partition: Partition) => void,
  ) {
    this.#partition = partition;
    this.#mark = partition.handOut(offset, bytes);
    this.#bytes = bytes;
    this.#onDone = onDone;
    this.timestamp = timestamp;
  }

  get topic(): string {
    return this.#partition.topic;
  }

  get partition(): number {
    return this.#partition.partition;
  }

  get offset(): number {
    return this.#mark.offset;
  }

  get revoked(): boolean {
    return this.#partition.revoked;
  }

  done(): void {
    if (this.#mark.finished || this.revoked) return;
    this.#partition.finish(this.#mark, this.#bytes);
    this.#onDone(this.#partition);
  }
}

class HandedOutRecord implements TrackedRecord {
  readonly work: Work;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headerList: readonly RecordHeader[];
  #headers: Readonly<Record<string, Buffer>> | undefined;

  constructor(work: Work, { key, value, headers }: FetchedRecord) {
    this.work = work;
    this.key = key;
    this.value = value;
    this.headerList = headers;
  }

  /** Made when first used. */
  get headers(): Readonly<Record<string, Buffer>> {
    return (this.#headers ??= lastOfEach(this.headerList));
  }

  get topic(): string {
    return this.work.topic;
  }

  get partition(): number {
    return this.work.partition;
  }

  get offset(): number {
    return this.work.offset;
  }

  get timestamp(): number {
    return this.work.timestamp;
  }

  get revoked(): boolean {
    return this.work.revoked;
  }

  done(): void {
    this.work.done();
  }
}

/** The offset that the library asked for; it is there, and not in the library's types. */
function fetchedFrom(batch: EachBatchPayload['batch']): number {
  return Number((batch as unknown as { fetchedOffset: string }).fetchedOffset);
}
