/**
 * Commits the watermarks, and what is finished above them. A commit is valid in one generation of the group only. It is
 * never retried, because a retry in a later generation could commit a partition that was revoked. The next commit
 * includes it.
 */
import type { EachBatchPayload } from 'kafkajs';
import type { KafkaLog } from '../log.ts';
import type { Partition } from './partition/partition.ts';

/** The library's commit that does not retry. */
export type CommitOffsets = EachBatchPayload['commitOffsetsIfNecessary'];

export interface Committer {
  /** Commits that were refused, or not answered. */
  readonly failures: number;
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

const rebalanceIntervalMs = 20;

export function createCommitter(
  partitions: () => Iterable<Partition>,
  log: KafkaLog,
  { intervalMs, ...fields }: { readonly intervalMs: number; readonly groupId: string },
): Committer {
  let commitOffsets: CommitOffsets | undefined;
  let running: Promise<void> | undefined;
  let waiting: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  let failures = 0;

  const commitNow = async (): Promise<void> => {
    const changed = [...partitions()].filter((partition) => partition.changed);
    if (changed.length === 0 || !commitOffsets) return;
    const topics = Map.groupBy(changed, ({ topic }) => topic);
    for (const partition of changed) partition.changed = false;
    try {
      await commitOffsets({
        topics: Array.from(topics, ([topic, list]) => ({
          topic,
          partitions: list.map(({ partition, progress }) => ({ partition, ...progress })),
        })),
      });
    } catch (error) {
      for (const partition of changed) partition.changed = true;
      failures += 1;
      log.debug({ err: error, ...fields }, 'commit refused');
    }
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
    if (!closed) timer = setInterval(() => void commit(), milliseconds);
  };

  const pause = (): void => {
    clearInterval(timer);
  };

  return {
    get failures() {
      return failures;
    },
    use(newCommitOffsets) {
      commitOffsets = newCommitOffsets;
    },
    start() {
      every(intervalMs);
    },
    hurry() {
      void commit();
      every(rebalanceIntervalMs);
    },
    pause,
    close() {
      closed = true;
      pause();
      return commit();
    },
  };
}
