/**
 * Commits the watermarks, with what is finished above them. A commit names the generation of the group it is made
 * in, and Kafka refuses it once that is past; so it is never tried again as it was: the next one says more, and
 * this one may speak for a partition that has gone.
 */
import type { EachBatchPayload } from 'kafkajs';
import type { KafkaLog } from './log.ts';
import type { Partition } from './partition.ts';

/** The library's commit without retries, which would be made in whatever generation it is by then. */
export type CommitOffsets = EachBatchPayload['commitOffsetsIfNecessary'];

export interface Committer {
  /** How to commit from now on; each start of the library's consumer brings its own. */
  use(commitOffsets: CommitOffsets): void;
  /** Commits every so often from now on. */
  start(): void;
  /** Commits now, and often from now on: what was finished since is repeated where a partition goes to another member. */
  hurry(): void;
  /** Commits no more until `start()`. */
  pause(): void;
  /** Commits for the last time. */
  close(): Promise<void>;
}

const hurriedIntervalMs = 20;

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
      log.debug({ err: error, ...fields }, 'offsets not committed this time');
    }
  };

  const takeTurn = (): Promise<void> => {
    waiting = undefined;
    running = commitNow().finally(() => {
      running = undefined;
    });
    return running;
  };

  /** Resolves when what is finished now is committed, or could not be. Calls that come meanwhile share the next turn. */
  const commit = (): Promise<void> => {
    if (!running) return takeTurn();
    return (waiting ??= running.then(takeTurn));
  };

  const every = (milliseconds: number): void => {
    clearInterval(timer);
    if (!closed) timer = setInterval(() => void commit(), milliseconds);
  };

  const pause = (): void => {
    clearInterval(timer);
  };

  return {
    use(newCommitOffsets) {
      commitOffsets = newCommitOffsets;
    },
    start() {
      every(intervalMs);
    },
    hurry() {
      void commit();
      every(hurriedIntervalMs);
    },
    pause,
    close() {
      closed = true;
      pause();
      return commit();
    },
  };
}
