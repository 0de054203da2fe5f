/**
 * How many partitions `deliveries` and the topics beside it have, as Kafka says. A retry and a dead letter keep their
 * partition number. Where a topic lacks it they cannot be written, so the service does not start on unequal counts.
 *
 * Counts that become unequal while it runs lose nothing: what cannot be written stays unfinished, its offset is not
 * committed, and it is written as soon as the partition is there. Everything else is delivered meanwhile. The log, the
 * readiness probe and a metric say so.
 */
import { TailraceError, isTailraceError } from '@tailrace/errors';
import type { Kafka } from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import { unequalPartitions, type TopicNames, type UnequalPartitions } from '@tailrace/topics';

export interface PartitionWatch {
  /** How many partitions `deliveries` has. */
  readonly deliveries: number;
  /** How many partitions the other topics lack. */
  readonly missing: number;
  /** Rejects with `unequal-partitions` while counts are unequal. */
  check(): Promise<void>;
  close(): void;
}

export interface PartitionWatchOptions {
  readonly kafka: Pick<Kafka, 'describeTopics'>;
  readonly names: TopicNames;
  /** Those that are read; the dead letters are added. */
  readonly topics: readonly string[];
  readonly log: Pick<Log, 'error' | 'info' | 'warn'>;
  readonly everyMs?: number;
}

const lookEveryMs = 10_000;
const remindEveryMs = 60_000;

/**
 * Looks now, and again and again until it is closed.
 *
 * @throws TailraceError (from the promise) `unequal-partitions`, `kafka-unavailable`
 */
export async function watchPartitions(options: PartitionWatchOptions): Promise<PartitionWatch> {
  const { kafka, names, topics, log, everyMs = lookEveryMs } = options;
  let deliveries = 0;
  /** As of the last look, and as of the one before it. */
  let found: UnequalPartitions | undefined;
  let foundBefore: UnequalPartitions | undefined;
  let remindAt = 0;

  const look = async (): Promise<void> => {
    const described = await kafka.describeTopics([...topics, names.deliveriesDead]);
    const counts = new Map(Array.from(described, ([topic, { partitions }]) => [topic, partitions]));
    deliveries = counts.get(names.deliveries) ?? deliveries;
    foundBefore = found;
    found = unequalPartitions(names, counts);
  };
  /** One look may fall between two topics to which partitions are being added. */
  const unequal = (): UnequalPartitions | undefined => (foundBefore ? found : undefined);

  await look();
  if (found) throw new TailraceError('unequal-partitions', found.message);

  const lookAgain = async (): Promise<void> => {
    const wasUnequal = unequal() !== undefined;
    try {
      await look();
    } catch (error) {
      if (!isTailraceError(error)) throw error;
      log.warn({ err: error }, 'could not look how many partitions there are; trying again');
      return;
    }
    const is = unequal();
    if (is && (!wasUnequal || performance.now() >= remindAt)) {
      remindAt = performance.now() + remindEveryMs;
      log.error({ code: 'unequal-partitions', missing: is.missing }, is.message);
    }
    if (wasUnequal && !is) log.info({ partitions: deliveries }, 'partition counts are equal again');
  };

  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  const lookLater = (): void => {
    timer = setTimeout(() => {
      void lookAgain().then(() => {
        if (!closed) lookLater();
      });
    }, everyMs);
  };
  lookLater();

  return {
    get deliveries() {
      return deliveries;
    },
    get missing() {
      return unequal()?.missing ?? 0;
    },
    check() {
      const is = unequal();
      if (!is) return Promise.resolve();
      return Promise.reject(new TailraceError('unequal-partitions', is.message));
    },
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
