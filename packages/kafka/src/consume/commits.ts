/**
 * Commits the watermarks, and what is finished above them. A commit is valid in one generation of the group only. It is
 * never retried, because a retry in a later generation could commit a partition that was revoked. The next commit
 * includes it, and a member that leaves makes another one.
 *
 * Commits are late while finished work waits too long for its commit, and refused while the broker does not know this member
 * any more. In both cases what is started from then on may be repeated.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { EachBatchPayload } from 'kafkajs';
import { errorChain } from '../failure.ts';
import type { KafkaLog } from '../log.ts';
import type { Refusals } from '../refusals.ts';
import type { Partition } from './partition/partition.ts';

/** The library's commit that does not retry. */
type CommitOffsets = EachBatchPayload['commitOffsetsIfNecessary'];

type CommitState = 'current' | 'late' | 'refused';

export interface Committer {
  /** Commits that were refused, or not answered. */
  readonly failures: number;
  /** Finished work that was committed before its trace was written, because that took too long. */
  readonly untraced: number;
  readonly state: CommitState;
  /** For how long the oldest finished work has waited for its commit; 0 if all is committed. */
  readonly uncommittedMs: number;
  /** Sets the function to commit with. Each run of the library's consumer has its own. */
  use(commitOffsets: CommitOffsets): void;
  /** The group is joined. Commits at the interval from now on. */
  joined(): void;
  /** Commits now, and every 20 ms from now on. Uncommitted work is repeated if its partition moves. */
  hurry(): void;
  /** All members have joined: commits are refused, so none is made until `joined()`. */
  joining(): void;
  /** Commits now, and stops committing until `joined()`. */
  finish(): Promise<void>;
  /** Commits a last time; where others join, again until it is accepted or `lateAfterMs` have passed. */
  close(): Promise<void>;
}

export interface CommitterOptions {
  readonly groupId: string;
  readonly intervalMs: number;
  /** How long finished work may wait for its commit before commits are late. */
  readonly lateAfterMs: number;
  /** Refusals of commits because the broker does not know this member. */
  readonly refusals: Refusals;
  /** Called when `state` has changed. */
  readonly onChange: () => void;
  readonly onCommitted: () => void;
}

const rebalanceIntervalMs = 20;
/** The part of `lateAfterMs` for which work is held back until its trace is written. The rest is for the commit. */
const holdPart = 0.5;
/** Kafka's errors for a commit of a member that was removed. */
const removed = ['UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION', 'FENCED_INSTANCE_ID'];

export function createCommitter(
  partitions: () => Iterable<Partition>,
  log: KafkaLog,
  { groupId, intervalMs, lateAfterMs, refusals, onChange, onCommitted }: CommitterOptions,
): Committer {
  let commitOffsets: CommitOffsets | undefined;
  let running: Promise<void> | undefined;
  let waiting: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  let failures = 0;
  let untraced = 0;
  /** Whether work is held back until its trace is written. Not where it would be repeated elsewhere soon. */
  let mayHold = true;
  let joins = 0;
  /** Whether members join, and the generation of this one ends. */
  let isRebalancing = false;
  let isRefused = false;
  let state: CommitState = 'current';
  let lateTimer: NodeJS.Timeout | undefined;

  const uncommittedMs = (): number => {
    let oldest = Infinity;
    for (const { uncommittedSince = Infinity } of partitions()) oldest = Math.min(oldest, uncommittedSince);
    return Math.max(0, performance.now() - oldest);
  };

  const check = (): void => {
    clearTimeout(lateTimer);
    const waitedMs = uncommittedMs();
    const leftMs = lateAfterMs - waitedMs;
    // Later ones are found by the check of the next interval.
    if (leftMs > 0 && leftMs < intervalMs && !closed) lateTimer = setTimeout(check, Math.ceil(leftMs));
    const before = state;
    state = isRefused ? 'refused' : leftMs <= 0 ? 'late' : 'current';
    if (state === before) return;
    const fields = { groupId, uncommittedMs: Math.round(waitedMs) };
    if (state === 'current') log.info(fields, 'commits are accepted again');
    else log.warn(fields, `commits are ${state}, starting nothing new`);
    onChange();
  };

  /** Work that waits for its trace is included in time for the next commit to begin within its part of `lateAfterMs`. */
  const releaseHeld = (): void => {
    const until = mayHold ? performance.now() - Math.max(0, lateAfterMs * holdPart - intervalMs) : Infinity;
    for (const partition of partitions()) {
      const released = partition.release(until);
      if (mayHold) untraced += released;
    }
  };

  const commitNow = async (): Promise<void> => {
    releaseHeld();
    const changed = [...partitions()].filter((partition) => partition.changed);
    if (changed.length === 0 || !commitOffsets) return;
    const topics = Map.groupBy(changed, ({ topic }) => topic);
    const begun = changed.map((partition) => partition.beginCommit());
    const joinsBefore = joins;
    let isCommitted = false;
    try {
      await commitOffsets({
        topics: Array.from(topics, ([topic, list]) => ({
          topic,
          partitions: list.map(({ partition, progress }) => ({ partition, ...progress })),
        })),
      });
      isCommitted = true;
      isRefused = false;
      refusals.accepted();
    } catch (error) {
      failures += 1;
      log.debug({ err: error, groupId }, 'commit failed');
      if (joins === joinsBefore && isRemoval(error)) {
        isRefused = true;
        refusals.refused();
      }
    }
    for (const end of begun) end(isCommitted);
    check();
    if (isCommitted) onCommitted();
  };

  const isRemoval = (error: unknown): boolean => {
    const { type = '' } = errorChain(error).find(({ type }) => type !== undefined) ?? {};
    // Normal in a rebalance: the commit was on its way when all members had joined.
    return removed.includes(type) && !(isRebalancing && type === 'ILLEGAL_GENERATION');
  };

  const commitNext = (): Promise<void> => {
    waiting = undefined;
    running = commitNow().finally(() => {
      running = undefined;
    });
    return running;
  };

  /** Resolves when the work that is finished now is committed or refused. Calls during a commit share the next one. */
  const commit = (): Promise<void> => {
    if (!running) return commitNext();
    return (waiting ??= running.then(commitNext));
  };

  const every = (milliseconds: number): void => {
    clearInterval(timer);
    if (closed) return;
    timer = setInterval(() => {
      check();
      void commit();
    }, milliseconds);
  };

  const finish = (): Promise<void> => {
    mayHold = false;
    clearInterval(timer);
    return commit();
  };

  const isAllCommitted = (): boolean => ![...partitions()].some(({ changed }) => changed);

  return {
    get failures() {
      return failures;
    },
    get untraced() {
      return untraced;
    },
    get state() {
      return state;
    },
    get uncommittedMs() {
      return uncommittedMs();
    },
    use(newCommitOffsets) {
      commitOffsets = newCommitOffsets;
    },
    joined() {
      joins += 1;
      isRebalancing = false;
      mayHold = true;
      isRefused = false;
      refusals.accepted();
      // Partitions that were revoked took their work with them.
      check();
      every(intervalMs);
    },
    hurry() {
      isRebalancing = true;
      mayHold = false;
      void commit();
      every(rebalanceIntervalMs);
    },
    joining() {
      isRebalancing = true;
      clearInterval(timer);
    },
    finish,
    async close() {
      closed = true;
      clearTimeout(lateTimer);
      const giveUpAt = performance.now() + lateAfterMs;
      for (;;) {
        const wasRebalancing = isRebalancing;
        await finish();
        const mayBeAccepted = (wasRebalancing || isRebalancing) && !isAllCommitted();
        if (!mayBeAccepted || performance.now() >= giveUpAt) return;
        await wait(rebalanceIntervalMs);
      }
    },
  };
}
