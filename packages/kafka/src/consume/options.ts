/** How to consume: the options of `Kafka.consume`. */
import type { UnreadableBatch } from '../unreadable.ts';
import type { PreparePartitions } from './assignment.ts';
import type { PartitionLimits } from './partition/limits.ts';
import type { DueRecord, Work } from './partition/tracked-record.ts';

export interface ConsumeOptions {
  readonly groupId: string;
  readonly topics: readonly string[];
  /**
   * Called for each record, in the order of its partition. It starts the work, which calls `record.done()` when it is
   * finished. Must not throw, and should not block.
   */
  readonly onRecord: (record: DueRecord) => void;
  /**
   * Called for a batch that cannot be read, in the order of the partition. The batch is already logged. Call `work.done()`
   * when the batch may be skipped; the default calls it immediately.
   */
  readonly onUnreadable?: (batch: UnreadableBatch, work: Work) => void;
  /** The unfinished work of one partition at which it is paused. Default 1,000 records or 4 MiB. */
  readonly limits?: (topic: string) => PartitionLimits;
  /** How often finished work is committed. Work that finished since the last commit is repeated after a crash. Default 400 ms. */
  readonly commitIntervalMs?: number;
  /** How long finished work may wait for its commit before nothing new is started (`onHold`). Default 2 s. */
  readonly commitsLateAfterMs?: number;
  /**
   * How long the work of a partition that moves to another member may take until it is given up (default 500 ms). What is
   * unfinished then is repeated there. Only where `coPartitioned`.
   */
  readonly handOverMs?: number;
  /** The time after which records of a topic are due. Records that have a time of their own report it (`waitsUntil`). */
  readonly delayMs?: (topic: string) => number | undefined;
  /** Called for partitions that are assigned to this member, before any of their records is fetched. */
  readonly prepare?: PreparePartitions;
  /** Assigns partition i of every topic to the same member. The topics should have the same number of partitions. */
  readonly coPartitioned?: boolean;
  /** Topics that are fetched only every `everyMs` while they have nothing new and other topics are busy. */
  readonly idleTopics?: { readonly topics: readonly string[]; readonly everyMs: number };
  /**
   * Called with true when all members have joined a rebalance, and with false when this member has its assignment. Commits
   * are refused in between, so work that finishes then is repeated if its partition moves. Before that, while the group
   * waits for its members, this member keeps its partitions and can commit.
   */
  readonly onRebalance?: (rebalancing: boolean) => void;
  /**
   * Called with true when nothing new should be started, because it could not be committed and would be repeated: commits are
   * late, or all members have joined a rebalance. Called with false when work may continue. While commits are late nothing is
   * received.
   */
  readonly onHold?: (held: boolean) => void;
}

export const defaultLimits: PartitionLimits = { records: 1_000, bytes: 4 * 1024 * 1024 };
