/**
 * The partitions that this member owns, through every rebalance.
 *
 * While it is the same member it was never out of the group, so a partition that it owns before and after
 * a rebalance keeps its watermark and its work. (Another member may have owned the partition in a generation that this one
 * missed. That causes repeats and no loss, because a watermark covers this member's own work only.) The work of a revoked
 * partition is marked as revoked and never committed.
 *
 * A partition that moves stays here until its work is finished and committed, or takes too long for that; nothing more of it is
 * received. Then it is given up, and this member joins again to say so (assigner.ts). Beside members of earlier releases it moves
 * at once.
 *
 * A new partition starts at the group's committed offset, which is looked up here. The library may still pass on a batch of
 * an earlier generation, so a batch is accepted only if it was fetched from the partition's next offset or before it.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { TailraceError } from '@tailrace/errors';
import type { KafkaLog } from '../log.ts';
import { committedOffsets, topicOffsets } from '../admin/offsets.ts';
import type { Admin } from '../patches/reading/admin-requests.ts';
import { Partition } from './partition/partition.ts';
import { decodeProgress, type OffsetRange } from './partition/progress.ts';
import type { Joined, Session, TopicPartition } from '../session.ts';
import { cooperative, type Claims } from './assigner.ts';
import { HandOver } from './hand-over.ts';

/** A partition that is assigned to this member from now on. */
export interface NewPartition {
  readonly topic: string;
  readonly partition: number;
  /** The offset to begin with. */
  readonly next: number;
  /** The ranges above `next` that an earlier owner finished. Their records are skipped. */
  readonly finished: readonly OffsetRange[];
}

/**
 * Prepares for the first record of these partitions, which are not fetched until it resolves. It is called again if it
 * rejects with a TailraceError. `signal` is aborted by a rebalance that takes one of them; the others are prepared again.
 */
export type PreparePartitions = (partitions: readonly NewPartition[], signal: AbortSignal) => Promise<void>;

export interface AssignmentDependencies {
  readonly admin: Admin;
  readonly classify: (error: unknown) => unknown;
  readonly log: KafkaLog;
  /** `owned` is kept up to date. */
  readonly claims: Claims;
}

export interface AssignmentOptions {
  readonly groupId: string;
  readonly limits: (topic: string) => { readonly records: number; readonly bytes: number };
  readonly prepare: PreparePartitions | undefined;
  readonly handOverMs: number;
}

/** The member whose assignment it is. */
export interface AssignedMember {
  readonly session: () => Pick<Session, 'pause' | 'resume' | 'seek'>;
  /** Whether the topic may be fetched. If not, its partitions stay paused. */
  readonly mayFetch: (topic: string) => boolean;
  /** Called when every partition is located and prepared. */
  readonly onLocated: () => void;
  /** Called when this member owns less than it said when it joined. */
  readonly onGivenUp: () => void;
}

/** Partitions that are located and prepared together. */
interface Locating {
  readonly partitions: readonly Partition[];
  readonly ending: AbortController;
}

export interface Assignment {
  readonly partitions: Iterable<Partition>;
  get(topic: string, partition: number): Partition | undefined;
  /** Whether partitions are finished here before another member gets them. */
  readonly isHandingOver: boolean;
  /** Takes up the partitions of a new generation, inside the library's join, before its first fetch. */
  onJoin(joined: Joined): void;
  /** Work was committed: partitions that are handed over may be given up now. */
  committed(): void;
  /**
   * Finds the offset to continue with when a fetched batch does not follow the last received record. The batch may be of an
   * earlier generation; records may have expired before they were read; or the topic was deleted and created again.
   */
  relocate(partition: Partition): void;
  /** By topic, the records that Kafka deleted before they were received. */
  readonly expired: ReadonlyMap<string, number>;
  /** Gives up all partitions. The group is joined again as a new member. */
  leave(): void;
  revokeAll(): void;
}

const retryPauseMs = 250;

export function createAssignment(
  { admin, classify, log, claims }: AssignmentDependencies,
  { groupId, limits, prepare, handOverMs }: AssignmentOptions,
  { session, mayFetch, onLocated, onGivenUp }: AssignedMember,
): Assignment {
  const partitions = new Map<string, Partition>();
  const relocating = new Set<Partition>();
  const expired = new Map<string, number>();
  const locating = new Set<Locating>();
  let isClosed = false;

  const add = ({ topic, partition }: TopicPartition): Partition => {
    const added = new Partition(topic, partition, limits(topic));
    partitions.set(keyOf(added), added);
    return added;
  };

  const drop = (partition: Partition): void => {
    partition.revoke();
    partitions.delete(keyOf(partition));
    // The library would keep it paused if it were assigned again.
    session().resume([partition]);
  };

  const updateClaims = (): void => {
    claims.owned = [...new Set(Array.from(partitions.values(), ({ partition }) => partition))];
  };

  const handOver = new HandOver(handOverMs, (leaving) => {
    for (const partition of leaving) drop(partition);
    updateClaims();
    onGivenUp();
  });

  const onJoin: Assignment['onJoin'] = ({ assignment, isSame, protocol }) => {
    const isCooperative = protocol === cooperative;
    const assigned = Object.entries(assignment).flatMap(([topic, numbers]) =>
      numbers.map((partition) => ({ topic, partition })),
    );
    const kept = new Set(isSame ? assigned.map(keyOf) : []);
    for (const partition of [...partitions.values()]) {
      partition.leaving = !kept.has(keyOf(partition));
      const isHandedOver = isSame && isCooperative && partition.located;
      if (partition.leaving && !isHandedOver) drop(partition);
    }
    const owned = assigned.map((assigned) => partitions.get(keyOf(assigned)) ?? add(assigned));
    updateClaims();
    // What it said that it owns is kept for it.
    if (isCooperative && claims.sent.some((partition) => !claims.owned.includes(partition))) onGivenUp();
    handOver.begin([...partitions.values()].filter(({ leaving }) => leaving));
    for (const partition of owned) {
      if (partition.located) session().seek(partition, partition.next);
    }
    endLocating(({ revoked }) => revoked);
    const unlocated = owned.filter(({ located }) => !located);
    session().pause(unlocated);
    const underWay = new Set([...locating].flatMap(({ partitions }) => partitions));
    const fresh = unlocated.filter((partition) => !underWay.has(partition));
    log.debug({ groupId, assignment, fresh: fresh.length }, 'joined the consumer group');
    if (unlocated.length === 0) onLocated();
    if (fresh.length > 0 && !isClosed) void locate(fresh);
  };

  const endLocating = (isEnded: (partition: Partition) => boolean): void => {
    for (const one of locating) {
      if (!one.partitions.some(isEnded)) continue;
      locating.delete(one);
      one.ending.abort();
    }
  };

  /** Looks up the start offsets of new partitions, prepares them, and resumes them. Retries until one of them is revoked. */
  const locate = async (fresh: readonly Partition[]): Promise<void> => {
    const one = { partitions: fresh, ending: new AbortController() };
    const { signal } = one.ending;
    locating.add(one);
    while (!signal.aborted) {
      try {
        const starts = await startOffsets(admin, groupId, fresh);
        const located = fresh.map((partition) => {
          const { offset, finished } = starts(partition);
          partition.willStart(offset);
          return { partition, offset, finished };
        });
        if (prepare && !isAborted(signal))
          await prepare(located.map(newPartition), signal).catch(stopOnDefect);
        if (isAborted(signal)) return;
        locating.delete(one);
        for (const { partition, offset, finished } of located) begin(partition, offset, finished);
        if (locating.size === 0) onLocated();
        return;
      } catch (error) {
        if (isAborted(signal)) return;
        log.warn({ err: classify(error), groupId }, 'starting new partitions failed, retrying');
        await wait(retryPauseMs);
      }
    }
  };

  const begin = (partition: Partition, offset: number, finished?: readonly OffsetRange[]): void => {
    partition.start(offset, finished);
    session().seek(partition, offset);
    if (mayFetch(partition.topic)) session().resume([partition]);
  };

  const relocate = async (partition: Partition): Promise<void> => {
    const fields = { topic: partition.topic, partition: partition.partition };
    const ends = (await topicOffsets(admin, partition.topic)).find(
      (entry) => entry.partition === partition.partition,
    );
    if (partition.revoked || !partition.located) return;
    const first = Number(ends?.low ?? 0);
    if (ends && Number(ends.high) < partition.next) {
      log.error(
        { ...fields, next: partition.next },
        'partition is shorter than what was read, reading it again from its beginning',
      );
      drop(partition);
      begin(add(partition), first);
      return;
    }
    if (first > partition.next) {
      const missing = partition.skipExpired(first);
      expired.set(partition.topic, (expired.get(partition.topic) ?? 0) + missing);
      log.error({ ...fields, missing }, 'records expired before they were read');
    }
    session().seek(partition, partition.next);
  };

  return {
    partitions: { [Symbol.iterator]: () => partitions.values() },
    get isHandingOver() {
      return handOver.isUnderWay;
    },
    get: (topic, partition) => partitions.get(keyOf({ topic, partition })),
    onJoin,
    committed() {
      handOver.committed();
    },
    expired,
    relocate(partition) {
      if (relocating.has(partition)) return;
      relocating.add(partition);
      relocate(partition)
        .catch((error: unknown) => {
          const { topic } = partition;
          log.warn(
            { err: classify(error), topic, partition: partition.partition },
            'looking up the offsets of the partition failed',
          );
        })
        .finally(() => relocating.delete(partition));
    },
    leave() {
      endLocating(() => true);
      handOver.end();
      for (const partition of [...partitions.values()]) drop(partition);
    },
    revokeAll() {
      isClosed = true;
      endLocating(() => true);
      handOver.end();
      for (const partition of partitions.values()) partition.revoke();
    },
  };
}

/** The compiler takes `aborted` for a constant. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

function newPartition({ partition: { topic, partition }, offset, finished }: Located): NewPartition {
  return { topic, partition, next: offset, finished };
}

/** Rethrows an error that a retry may solve. A defect ends the process. */
function stopOnDefect(error: unknown): Promise<never> {
  if (error instanceof TailraceError) throw error;
  queueMicrotask(() => {
    throw error;
  });
  return new Promise(() => undefined);
}

function keyOf({ topic, partition }: TopicPartition): string {
  return `${topic}/${partition}`;
}

interface Start {
  readonly offset: number;
  /** The finished ranges above it. */
  readonly finished: readonly OffsetRange[];
}

interface Located extends Start {
  readonly partition: Partition;
}

/** The committed offset of each partition; the beginning of the partition if there is none. */
async function startOffsets(
  admin: Admin,
  groupId: string,
  wanted: readonly Partition[],
): Promise<(partition: Partition) => Start> {
  const topics = [...new Set(wanted.map(({ topic }) => topic))];
  const starts = new Map<string, Start>();
  const committed = await committedOffsets(admin, groupId, topics);
  for (const { topic, partitions } of committed) {
    const uncommitted = partitions.some(({ offset }) => Number(offset) < 0);
    const beginnings = uncommitted ? await topicOffsets(admin, topic) : [];
    for (const { partition, offset, metadata } of partitions) {
      const beginning = beginnings.find((entry) => entry.partition === partition)?.low;
      const start =
        Number(offset) < 0
          ? { offset: Number(beginning ?? 0), finished: [] }
          : { offset: Number(offset), finished: decodeProgress(Number(offset), metadata) };
      starts.set(keyOf({ topic, partition }), start);
    }
  }
  const startOf = (partition: Partition): Start => {
    const start = starts.get(keyOf(partition));
    if (start) return start;
    // The partition was added a moment ago. Without this check, the group would read it from its beginning.
    throw new TailraceError(
      'kafka-unavailable',
      `Kafka did not return the committed offset of ${groupId} in ${partition.topic}, partition ${partition.partition}.`,
    );
  };
  // This call makes the library refresh its list of partitions.
  if (!wanted.every((partition) => starts.has(keyOf(partition)))) await admin.listGroups();
  return startOf;
}
