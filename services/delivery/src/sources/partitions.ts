/**
 * Watches the partition counts of `deliveries` and the topics beside it. A retry and a dead letter keep their partition
 * number, and cannot be written where a topic lacks it. So the service does not start while counts are unequal.
 *
 * Counts that become unequal while it runs lose no data: a record that cannot be written stays unfinished, its offset is
 * not committed, and it is written as soon as the partition exists. All other deliveries continue. The log, `/readyz`
 * and two metrics report the problem, and the service stays ready.
 */
import { TailraceError, isTailraceError } from '@tailrace/errors';
import type { Kafka } from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import { unequalPartitions, type TopicNames, type UnequalPartitions } from '@tailrace/topology';

export type PartitionWatch = Awaited<ReturnType<typeof watchPartitions>>;

export interface PartitionWatchOptions {
  readonly kafka: Pick<Kafka, 'describeTopics'>;
  readonly names: TopicNames;
  /** The topics that are read. The dead-letter topic is added. */
  readonly topics: readonly string[];
  readonly log: Pick<Log, 'error' | 'info' | 'warn'>;
  readonly everyMs?: number;
}

const checkEveryMs = 10_000;
const remindEveryMs = 60_000;

/**
 * Checks the counts now, and regularly until it is closed.
 *
 * @throws TailraceError (from the promise) `unequal-partitions`, `kafka-unavailable`
 */
export async function watchPartitions(options: PartitionWatchOptions) {
  const { kafka, names, topics, log, everyMs = checkEveryMs } = options;
  let deliveries = 0;
  /** The results of the last check and the one before. */
  let found: UnequalPartitions | undefined;
  let foundBefore: UnequalPartitions | undefined;
  let remindAt = 0;

  const describe = async (): Promise<void> => {
    const described = await kafka.describeTopics([...topics, names.deliveriesDead]);
    const counts = new Map(Array.from(described, ([topic, { partitions }]) => [topic, partitions]));
    deliveries = counts.get(names.deliveries) ?? deliveries;
    foundBefore = found;
    found = unequalPartitions(names, counts);
  };
  /** A single check may fall between two topics to which partitions are being added. */
  const unequal = (): UnequalPartitions | undefined => (foundBefore ? found : undefined);

  await describe();
  if (found) throw new TailraceError('unequal-partitions', found.message);

  const checkAgain = async (): Promise<void> => {
    const wasUnequal = unequal() !== undefined;
    try {
      await describe();
    } catch (error) {
      if (!isTailraceError(error)) throw error;
      log.warn({ err: error }, 'checking partition counts failed, retrying');
      return;
    }
    const problem = unequal();
    if (problem && (!wasUnequal || performance.now() >= remindAt)) {
      remindAt = performance.now() + remindEveryMs;
      log.error({ code: 'unequal-partitions', missing: problem.missing }, problem.message);
    }
    if (wasUnequal && !problem) log.info({ partitions: deliveries }, 'partition counts are equal again');
  };

  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  const checkLater = (): void => {
    timer = setTimeout(() => {
      void checkAgain().then(() => {
        if (!closed) checkLater();
      });
    }, everyMs);
  };
  checkLater();

  return {
    /** The number of partitions of `deliveries`. */
    get deliveries(): number {
      return deliveries;
    },
    /** The number of partitions that the other topics lack. */
    get missing(): number {
      return unequal()?.missing ?? 0;
    },
    /** Rejects with `unequal-partitions` while counts are unequal. */
    check(): Promise<void> {
      const problem = unequal();
      if (!problem) return Promise.resolve();
      return Promise.reject(new TailraceError('unequal-partitions', problem.message));
    },
    close(): void {
      closed = true;
      clearTimeout(timer);
    },
  };
}
