/**
 * The partitions this member owns, through every rebalance.
 *
 * While the member id stays the same, this member has been in the group without a break, so a partition that it
 * has before and after keeps its watermark and its work, and reads on where it was. (Another member may have had
 * it for a moment in between, in a generation that was over before we heard of it. That costs repeats, no loss:
 * a watermark vouches for this member's own work only.) A lost partition's work is marked lost and never
 * committed. A new partition starts from the group's committed offset, which we look up ourselves: the library
 * may still hand over a batch of an earlier generation, so only one that was fetched from where the watermark
 * stands, or before, is taken.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { TailraceError } from '@tailrace/errors';
import type { Admin } from 'kafkajs';
import type { KafkaLog } from './log.ts';
import { committedOffsets, topicOffsets } from './offsets.ts';
import { Partition } from './partition.ts';
import { decodeProgress, type OffsetRange } from './progress.ts';
import type { Session, TopicPartition } from './session.ts';

/** A partition that is this member's from now on. */
export interface NewPartition {
  readonly topic: string;
  readonly partition: number;
  /** The offset from which on records will be handed out. */
  readonly next: number;
  /** What an earlier owner finished above `next`; it is not handed out. */
  readonly finished: readonly OffsetRange[];
}

/**
 * Learns what must be known before the first record of these partitions; they are not fetched until it resolves.
 * Where it throws a TailraceError it is called again. `signal` is aborted where the partitions are to be
 * prepared anew, or by somebody else.
 */
export type PreparePartitions = (partitions: readonly NewPartition[], signal: AbortSignal) => Promise<void>;

export interface AssignmentOptions {
  readonly groupId: string;
  readonly admin: Admin;
  readonly classify: (error: unknown) => unknown;
  readonly log: KafkaLog;
  readonly session: () => Pick<Session, 'pause' | 'resume' | 'seek'>;
  readonly limits: (topic: string) => { readonly records: number; readonly bytes: number };
  /** Whether the topic may be fetched; where not, its partitions stay paused. */
  readonly mayFetch: (topic: string) => boolean;
  readonly prepare: PreparePartitions | undefined;
}

export interface Assignment {
  readonly partitions: Iterable<Partition>;
  get(topic: string, partition: number): Partition | undefined;
  /** To be called inside the library's join, before anything is fetched for the new generation. */
  onJoin(memberId: string, assignment: Readonly<Record<string, readonly number[]>>): void;
  /**
   * To be called where what the library fetched does not fit what was handed out: a batch of an earlier
   * generation; or records expired before they were read, and the library went to what is left; or the topic
   * was made anew, and ends before where we stand.
   */
  relocate(partition: Partition): void;
  /** Gives everything up. */
  lose(): void;
}

const retryPauseMs = 250;

export function createAssignment(options: AssignmentOptions): Assignment {
  const { groupId, admin, classify, log, session, limits, mayFetch, prepare } = options;
  const partitions = new Map<string, Partition>();
  const relocating = new Set<Partition>();
  let memberId: string | undefined;
  /** Aborted at the next join, which locates whatever is not located by then. */
  let locating = new AbortController();
  let over = false;

  const add = ({ topic, partition }: TopicPartition): Partition => {
    const added = new Partition(topic, partition, limits(topic));
    partitions.set(keyOf(added), added);
    return added;
  };

  const drop = (partition: Partition): void => {
    partition.lose();
    partitions.delete(keyOf(partition));
    // The library would remember that it was paused, should it come back.
    session().resume([partition]);
  };

  const onJoin: Assignment['onJoin'] = (newMemberId, assignment) => {
    const continuous = memberId === newMemberId;
    memberId = newMemberId;
    const assigned = Object.entries(assignment).flatMap(([topic, numbers]) =>
      numbers.map((partition) => ({ topic, partition })),
    );
    const kept = new Set(continuous ? assigned.map(keyOf) : []);
    for (const partition of [...partitions.values()]) {
      if (!kept.has(keyOf(partition))) drop(partition);
    }
    const owned = assigned.map((place) => partitions.get(keyOf(place)) ?? add(place));
    for (const partition of owned) {
      if (partition.located) session().seek(partition, partition.next);
    }
    const fresh = owned.filter(({ located }) => !located);
    session().pause(fresh);
    log.debug({ groupId, assignment, fresh: fresh.length }, 'joined the consumer group');
    locating.abort();
    locating = new AbortController();
    if (!over) void locate(fresh, locating.signal);
  };

  /** Finds where new partitions start, prepares them, and lets them be fetched. Tried until it works or is called anew. */
  const locate = async (fresh: readonly Partition[], signal: AbortSignal): Promise<void> => {
    const isOver = (): boolean => fresh.length === 0 || signal.aborted;
    while (!isOver()) {
      try {
        const starts = await startOffsets(admin, groupId, fresh);
        const located = fresh.map((partition) => {
          const { offset, finished } = starts(partition);
          return { partition, offset, finished };
        });
        if (prepare && !isOver()) await prepare(located.map(newPartition), signal).catch(stopOnDefect);
        if (isOver()) return;
        for (const { partition, offset, finished } of located) begin(partition, offset, finished);
        return;
      } catch (error) {
        if (isOver()) return;
        log.warn({ err: classify(error), groupId }, 'could not begin with new partitions; trying again');
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
    if (partition.revoked) return;
    const first = Number(ends?.low ?? 0);
    if (ends && Number(ends.high) < partition.next) {
      log.error({ ...fields, next: partition.next }, 'the partition is shorter than what was read of it');
      drop(partition);
      begin(add(partition), first);
      return;
    }
    if (first > partition.next) {
      log.error({ ...fields, missing: first - partition.next }, 'records expired before they were read');
      partition.skipTo(first);
    }
    session().seek(partition, partition.next);
  };

  return {
    partitions: { [Symbol.iterator]: () => partitions.values() },
    get: (topic, partition) => partitions.get(keyOf({ topic, partition })),
    onJoin,
    relocate(partition) {
      if (relocating.has(partition)) return;
      relocating.add(partition);
      relocate(partition)
        .catch((error: unknown) => {
          const { topic } = partition;
          log.warn(
            { err: classify(error), topic, partition: partition.partition },
            'could not find where the partition begins',
          );
        })
        .finally(() => relocating.delete(partition));
    },
    lose() {
      over = true;
      locating.abort();
      for (const partition of partitions.values()) partition.lose();
    },
  };
}

function newPartition({ partition: { topic, partition }, offset, finished }: Located): NewPartition {
  return { topic, partition, next: offset, finished };
}

/** Rethrows what time may fix. */
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
  /** What was finished above it. */
  readonly finished: readonly OffsetRange[];
}

interface Located extends Start {
  readonly partition: Partition;
}

/** Where the group continues: its committed offset, or the beginning of the partition where there is none. */
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
    // Added a moment ago. Without this, what is not known would be taken for not yet read.
    throw new TailraceError(
      'kafka-unavailable',
      `Kafka did not say where ${groupId} continues in ${partition.topic}, partition ${partition.partition}.`,
    );
  };
  // Makes the library look for partitions again.
  if (!wanted.every((partition) => starts.has(keyOf(partition)))) await admin.listGroups();
  return startOf;
}
