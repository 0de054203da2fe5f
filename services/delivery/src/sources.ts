/** Which topics the delivery group reads, and how far it reads ahead in each. */
import { TailraceError } from '@tailrace/errors';
import type { Consumption, Kafka, PartitionLimits } from '@tailrace/kafka';
import { tierDelaysMs, type TopicNames } from '@tailrace/topics';
import type { RetryPolicy } from './decide.ts';

/**
 * `deliveries`, the replay lane, and every tier there is: the schedule's own, and those of an earlier schedule,
 * which may still hold records.
 *
 * @throws TailraceError `topic-missing` where one of the schedule's topics does not exist, or the dead letters do not
 */
export async function topicsToConsume(
  kafka: Kafka,
  names: TopicNames,
  { scheduleMs }: RetryPolicy,
): Promise<string[]> {
  const existing = await kafka.listTopics();
  const needed = [
    names.deliveries,
    names.deliveriesReplay,
    ...tierDelaysMs(scheduleMs).map((delayMs) => names.retryTier(delayMs)),
  ];
  const missing = [...needed, names.deliveriesDead, names.recalls].filter(
    (topic) => !existing.includes(topic),
  );
  if (missing.length > 0) {
    throw new TailraceError(
      'topic-missing',
      `These topics do not exist: ${missing.join(', ')}. Create them with \`npx tailrace topics apply\`, ` +
        'with the same TAILRACE_RETRY_SCHEDULE and TAILRACE_TOPIC_PREFIX as here.',
    );
  }
  const earlierTiers = existing.filter((topic) => names.retryTierDelayMs(topic) !== undefined);
  return [...new Set([...needed, ...earlierTiers])];
}

const shareMs = 1_000;

/**
 * How much unfinished work of one partition may be held. In a tier most of it is waiting to be due, so a tier
 * needs only as much as is due while the next fetch is on its way.
 */
export function partitionLimits(names: TopicNames): (topic: string) => PartitionLimits {
  // The lanes pause reading long before; this bounds what waits for Kafka to take it.
  const live: PartitionLimits = { records: 4_000, bytes: 4 * 2 ** 20 };
  const tier: PartitionLimits = { records: 500, bytes: 2 ** 20 };
  return (topic) => (names.retryTierDelayMs(topic) === undefined ? live : tier);
}

/**
 * All but `deliveries`. Nothing in a tier is due before most of its delay is over, so it is early enough to look into
 * them a few times a second, and a few times in the shortest delay.
 */
export function idleTopics(
  names: TopicNames,
  topics: readonly string[],
  { scheduleMs }: RetryPolicy,
): { topics: string[]; everyMs: number } {
  return {
    topics: topics.filter((topic) => topic !== names.deliveries),
    everyMs: Math.min(250, ...scheduleMs.map((delayMs) => delayMs / 5)),
  };
}

/**
 * The part of a topic's partitions that this replica owns, from 0 to 1; `partitions` says how many the topic has. It is
 * looked up once a second, and not for each delivery.
 */
export function ownedShare(
  owned: () => Consumption['partitions'],
  topic: string,
  partitions: () => number,
): () => number {
  let share = 0;
  let asOf = -Infinity;
  return () => {
    const now = performance.now();
    if (share === 0 || now - asOf > shareMs) {
      share = owned().filter((partition) => partition.topic === topic).length / partitions();
      asOf = now;
    }
    return share;
  };
}
