/**
 * Commits the watermarks, and what is finished above them. A commit is valid in one generation of the group only. It is
 * never retried, because a retry in a later generation could commit a partition that was revoked. The next commit
 * includes it.
 *
 * Commits are late while finished work waits too long for its commit: all of it, and all that is started from then on, may
 * be repeated.
 */
import type { EachBatchPayload } from 'kafkajs';
import type { KafkaLog } from '../log.ts';
import type { Partition } from './partition/partition.ts';

/** The library's commit that does not retry. */
export type CommitOffsets = EachBatchPayload['commitOffsetsIfNecessary'];

export interface Committer {
  /** Commits that were refused, or not answered. */
  readonly failures: number;
  readonly areLate: boolean;
  /** For how long the oldest finished work has waited for its commit; 0 if all is committed. */
  readonly uncommittedMs: number;
  /** Sets the function to commit with. Each run of the library's consumer has its own. */
  use(commitOffsets: CommitOffsets): void;
  /** Commits at the interval from now on. */
  start(): void;
  /** Commits now, and every 20 ms from now on. Uncommitted work is repeated if its partition moves. */
  hurry(): void;
  /** Stops committing until `start()`. */
  pause(): void;
  /** Commits a last time. */
  close(): Promise<void>;
}

export interface CommitterOptions {
  readonly groupId: string;
  readonly intervalMs: number;
  /** How long finished work may wait for its commit before commits are late. */
  readonly lateAfterMs: number;
  /** Called when `areLate` has changed. */
  readonly onLate: () => void;
}

const rebalanceIntervalMs = 20;

export function createCommitter(
  partitions: () => Iterable<Partition>,
  log: KafkaLog,
  { intervalMs, lateAfterMs, onLate, ...fields }: CommitterOptions,
): Committer {
  let commitOffsets: CommitOffsets | undefined;
  let running: Promise<void> | undefined;
  let waiting: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  let failures = 0;
  let areLate = false;
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
    if (areLate === leftMs <= 0) return;
    areLate = !areLate;
    if (areLate)
      log.warn({ ...fields, waitedMs: Math.round(waitedMs) }, 'commits are late, starting nothing new');
    else log.info(fields, 'commits are not late any more');
    onLate();
  };

  const commitNow = async (): Promise<void> => {
    const changed = [...partitions()].filter((partition) => partition.changed);
    if (changed.length === 0 || !commitOffsets) return;
    const topics = Map.groupBy(changed, ({ topic }) => topic);
    for (const partition of changed) partition.commitBegins();
    let isCommitted = false;
    try {
      await commitOffsets({
        topics: Array.from(topics, ([topic, list]) => ({
          topic,
          partitions: list.map(({ partition, progress }) => ({ partition, ...progress })),
        })),
      });
      isCommitted = true;
    } catch (error) {
      failures += 1;
      log.debug({ err: error, ...fields }, 'commit failed');
    }
    for (const partition of changed) partition.commitEnded(isCommitted);
    check();
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

  const pause = (): void => {
    clearInterval(timer);
  };

  return {
    get failures() {
      return failures;
    },
    get areLate() {
      return areLate;
    },
    get uncommittedMs() {
      return uncommittedMs();
    },
    use(newCommitOffsets) {
      commitOffsets = newCommitOffsets;
    },
    start() {
      // Partitions that are revoked take their work with them.
      check();
      every(intervalMs);
    },
    hurry() {
      void commit();
      every(rebalanceIntervalMs);
    },
    pause,
    close() {
      closed = true;
      clearTimeout(lateTimer);
      pause();
      return commit();
    },
  };
}
