/**
 * A group consumer. It passes records to `onRecord` as they arrive, lets them finish in any order, and commits the offset
 * of the lowest unfinished record. The finished ranges above that offset are stored beside it, so that they are not repeated.
 *
 * A fetched batch is passed on in one turn of the event loop, and the library continues to fetch. A partition with too
 * much unfinished work is paused. Only commits.ts commits offsets. assignment.ts handles rebalances.
 */
import { TailraceError } from '@tailrace/errors';
import type { KafkaLog } from '../log.ts';
import type { Admin } from '../patches/reading/admin-requests.ts';
import type { MemberConsumer } from '../patches/reading/membership.ts';
import type { Scan, ScanOptions } from '../read/scan.ts';
import { watchRefusals, type KafkaRefusals } from '../refusals.ts';
import type { ConsumedRecord } from '../record.ts';
import { startSession, unlessClosing, type Processing, type Session } from '../session.ts';
import type { ReportUnreadable, UnreadableBatch } from '../unreadable.ts';
import type { FetchedBatch } from '../wire/fetched-batch.ts';
import type { FetchedRecord } from '../wire/record-batch.ts';
import type { Claims } from './assigner.ts';
import { createAssignment } from './assignment.ts';
import { createCommitter } from './commits.ts';
import { Drain } from './drain.ts';
import { startIdleTopics } from './idle-topics.ts';
import { defaultLimits, type ConsumeOptions } from './options.ts';
import { pace, type Pacing } from './pacing.ts';
import type { Partition } from './partition/partition.ts';
import { PartitionWork, ReceivedRecord, type Work } from './partition/tracked-record.ts';
import { startLookUps } from './look-ups.ts';
import { Receiving } from './receiving.ts';
import {
  lagsOf,
  Membership,
  stateOf,
  type ConsumptionTotals,
  type OwnedPartition,
  type PartitionLag,
  type PartitionState,
} from './reports.ts';
import { createUnfinished, type Span } from './unfinished.ts';

export interface Consumption {
  /** All topics of the group, whether or not this member owns partitions of them. */
  readonly topics: readonly string[];
  /** Computed from what is known: it asks Kafka nothing. `ageMs` and `lateMs` are absent while they are not known. */
  lags(): PartitionLag[];
  readonly totals: ConsumptionTotals;
  /** For how long the oldest finished work has waited for its commit; 0 if all is committed. */
  readonly uncommittedMs: number;
  /** Whether the consumer is in its group and brokers answer. */
  readonly healthy: boolean;
  /** Rejects with the reason if the consumer is not healthy, or its commits are late. */
  check(): Promise<void>;
  readonly partitions: readonly PartitionState[];
  /** Undefined if this member does not own the partition. */
  partition(topic: string, partition: number): PartitionState | undefined;
  /**
   * Reads, outside of the group, the unfinished records of these partitions of a topic, whether or not they were received.
   * Partitions that this member does not own are left out. Iterate it once.
   *
   * @param spans by partition, the offsets to read; by default all, up to the current end
   * @throws TailraceError (from the iteration) `kafka-unavailable`
   */
  unfinished(
    topic: string,
    partitions: readonly number[],
    spans?: ReadonlyMap<number, Span>,
  ): AsyncIterable<readonly ConsumedRecord[]>;
  /**
   * Undefined if this member does not own the partition, or its start offset is not known yet. A partition that is revoked
   * and assigned again is another object.
   */
  owned(topic: string, partition: number): OwnedPartition | undefined;
  /** Stops fetching these topics, or all, until `resume` of the same. Records of a fetch under way may still arrive. */
  pause(topics?: readonly string[]): void;
  resume(topics?: readonly string[]): void;
  /** Receives nothing more. Work that was received may finish. */
  stopReceiving(): void;
  /** stopReceiving(), waits at most `drainTimeoutMs` (default 0) until all work is finished, commits, and leaves the group. */
  close(options?: { drainTimeoutMs?: number }): Promise<void>;
}

/** A consumer of the library, with what it says that it owns, and what decides about its fetches. */
interface GroupMember {
  readonly consumer: MemberConsumer;
  readonly claims: Claims;
  readonly pacing: Pacing;
}

/** What asks brokers beside the consumer. */
interface Inquiries {
  readonly admin: Admin;
  /** A client of its own, for look-ups that may take long while brokers do not answer. */
  readonly lookUpAdmin: () => Promise<Admin>;
  readonly openScan: (options: ScanOptions) => Promise<Scan>;
}

export interface ConsumptionDependencies {
  readonly member: GroupMember;
  readonly inquiries: Inquiries;
  readonly classify: (error: unknown) => unknown;
  readonly log: KafkaLog;
  readonly reportUnreadable: ReportUnreadable;
  readonly refusals: KafkaRefusals;
  /** Aborted when the client of Kafka closes. */
  readonly closing: AbortSignal;
}

export async function startConsumption(
  dependencies: ConsumptionDependencies,
  options: ConsumeOptions,
): Promise<Consumption> {
  const { member, inquiries, classify, log, reportUnreadable, refusals, closing } = dependencies;
  const { consumer, claims, pacing } = member;
  const { admin, lookUpAdmin, openScan } = inquiries;
  const {
    groupId,
    topics,
    onRecord,
    onUnreadable = (_batch: UnreadableBatch, work: Work) => work.done(),
    limits = () => defaultLimits,
    commitIntervalMs = 400,
    commitsLateAfterMs = 2_000,
    handOverMs = 500,
    prepare,
    idleTopics,
    delayMs = () => undefined,
    onRebalance = () => undefined,
    onHold = () => undefined,
  } = options;
  let isRebalancing = false;
  let isHeld = false;
  const mayFetch = (topic: string): boolean => receiving.mayFetch(topic);
  const membership = new Membership(consumer);

  const assignment = createAssignment(
    { admin, classify, log, claims },
    { groupId, limits, prepare, handOverMs },
    {
      session: () => session,
      mayFetch,
      onLocated() {
        membership.located();
      },
      onGivenUp() {
        consumer.joinAgain();
      },
    },
  );
  const { partitions } = assignment;
  const drain = new Drain(partitions);
  const committer = createCommitter(() => partitions, log, {
    groupId,
    intervalMs: commitIntervalMs,
    lateAfterMs: commitsLateAfterMs,
    refusals: refusals.commits,
    onChange() {
      receiving.commitsChanged();
      updateHold();
    },
    onCommitted() {
      assignment.committed();
    },
  });
  const receiving = new Receiving({
    partitions,
    session: () => session,
    areCommitsCurrent: () => committer.state === 'current',
  });
  const unfinished = createUnfinished((topic, partition) => assignment.get(topic, partition), openScan);

  const onBatch = (batch: FetchedBatch, processing: Processing): void => {
    committer.use((offsets) => processing.commitOffsetsIfNecessary(offsets));
    const partition = assignment.get(batch.topic, batch.partition);
    if (!partition?.located || partition.leaving || !receiving.isOpen) return;
    const end = Number(batch.highWatermark);
    if (Number(batch.fetchedOffset) > partition.next || end < partition.next) {
      assignment.relocate(partition);
      return;
    }
    for (const fetched of batch.messages) {
      const { offset } = fetched;
      if (offset < partition.next) continue;
      if (partition.finishedBefore(offset)) partition.skipFinished(offset);
      else receive(partition, fetched);
    }
    partition.skipTo(batch.lastOffset() + 1);
    const last = batch.messages.at(-1);
    if (last) partition.sawRecords(batch.recordBytes);
    if (last && last.timestamp >= 0) partition.lastTimestamp = last.timestamp;
    processing.resolveOffset(String(batch.lastOffset()));
    if (partition.full && !partition.paused) {
      partition.paused = true;
      session.pause([partition]);
    }
  };

  const receive = (partition: Partition, fetched: FetchedRecord): void => {
    const { key, value, unreadable } = fetched;
    const bytes = (key?.length ?? 0) + (value?.length ?? 0);
    const work = new PartitionWork(partition, fetched, bytes, onDone);
    if (!unreadable) {
      onRecord(new ReceivedRecord(work, fetched));
      return;
    }
    const batch = { topic: partition.topic, partition: partition.partition, ...unreadable };
    reportUnreadable(batch);
    onUnreadable(batch, work);
  };

  const onDone = (partition: Partition): void => {
    if (partition.paused && partition.hasCapacity) {
      partition.paused = false;
      if (mayFetch(partition.topic)) session.resume([partition]);
    }
    drain.changed();
  };

  const updateHold = (): void => {
    if (isHeld === (isRebalancing || committer.state !== 'current')) return;
    isHeld = !isHeld;
    onHold(isHeld);
  };

  const session: Session = startSession({
    consumer,
    topics,
    classify,
    log,
    fields: { groupId },
    onBatch,
    mayJoin: () => !refusals.clock.areLasting,
    onJoin(joined) {
      assignment.onJoin(joined);
      membership.joined();
      committer.joined();
      // Others wait for what is handed over.
      if (assignment.isHandingOver) committer.hurry();
      isRebalancing = false;
      onRebalance(false);
      updateHold();
      drain.changed();
    },
  });
  const idle = idleTopics && startIdleTopics({ consumer, session, partitions, mayFetch, ...idleTopics });
  pace(pacing, { consumer, partitions, mayFetch, idle });
  pacing.onAnswer = ({ topic, partition: number, fetchedFrom, end }) => {
    const partition = assignment.get(topic, number);
    if (!partition?.located) return;
    partition.sawEnd(end, Date.now());
    // The library has skipped records that expired. It passes on no batch until there is a new record.
    if (fetchedFrom > partition.next && fetchedFrom === end) assignment.relocate(partition);
  };
  consumer.on(consumer.events.REBALANCING, () => {
    log.debug({ groupId }, 'the group is rebalancing');
    committer.hurry();
  });
  const beginRebalance = (): void => {
    isRebalancing = true;
    updateHold();
    onRebalance(true);
  };
  consumer.on(consumer.events.REQUEST, ({ payload: { apiName } }) => {
    if (apiName !== 'JoinGroup') return;
    committer.joining();
    beginRebalance();
  });
  await unlessClosing(closing, () => session.end(), session.joined);
  const lookUps = startLookUps({
    lookUpAdmin,
    classify,
    log,
    topics,
    partitions,
    relocate: (partition) => assignment.relocate(partition),
  });

  // Others may be able to do the work. This replica joins again when Kafka accepts it.
  const endWatch = watchRefusals(refusals, async (refused) => {
    if (!session.isInGroup) return;
    log.warn({ groupId, refused }, 'refused by Kafka, leaving the group');
    beginRebalance();
    await committer.finish();
    assignment.leave();
    session.rejoin();
  });

  return {
    topics,
    lags: () => lagsOf(partitions, { delayMs, retention: (topic) => lookUps.retention(topic), mayFetch }),
    get totals() {
      return {
        ...membership.totals,
        commitFailures: committer.failures,
        untraced: committer.untraced,
        expired: assignment.expired,
      };
    },
    get uncommittedMs() {
      return committer.uncommittedMs;
    },
    get healthy() {
      return session.healthy;
    },
    check() {
      const { state } = committer;
      if (session.healthy && state === 'current') return Promise.resolve();
      const problem = session.healthy
        ? `The commits of the consumer of ${groupId} are ${state}. `
        : `The consumer of ${groupId} is not in its group, or brokers do not answer it. `;
      const hint = 'Check KAFKA_BROKERS and that the brokers run.';
      return Promise.reject(new TailraceError('kafka-unavailable', problem + hint));
    },
    get partitions() {
      return Array.from(partitions, stateOf);
    },
    partition(topic, number) {
      const partition = assignment.get(topic, number);
      return partition && stateOf(partition);
    },
    unfinished: (topic, numbers, spans) => unfinished.read(topic, numbers, spans),
    owned(topic, number) {
      const partition = assignment.get(topic, number);
      return partition?.located ? partition : undefined;
    },
    pause(topics) {
      receiving.pause(topics);
    },
    resume(topics) {
      receiving.resume(topics);
    },
    stopReceiving() {
      receiving.stop();
    },
    async close({ drainTimeoutMs = 0 } = {}) {
      receiving.stop();
      endWatch();
      idle?.end();
      lookUps.end();
      await unfinished.close();
      await drain.finished(drainTimeoutMs);
      await committer.close();
      assignment.revokeAll();
      await session.end();
    },
  };
}
