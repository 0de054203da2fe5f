/** The topics that the delivery group reads, and this replica's part of them. */
import type { Consumption, Kafka } from '@tailrace/kafka';
import { pauseTierMs, requireTopics, tierDelaysMs, type TopicNames } from '@tailrace/topology';

/**
 * Returns `deliveries`, the replay topic, and all existing retry topics: those of the schedule, that of paused destinations,
 * and those of an earlier schedule, which may still hold records.
 *
 * @throws TailraceError `topic-missing` where a topic that is read or written does not exist
 */
export async function topicsToConsume(
  kafka: Kafka,
  names: TopicNames,
  scheduleMs: readonly number[],
): Promise<string[]> {
  const existing = await kafka.listTopics();
  const needed = [
    names.deliveries,
    names.deliveriesReplay,
    ...tierDelaysMs(scheduleMs).map((delayMs) => names.retryTier(delayMs)),
  ];
  const others = [names.deliveriesDead, names.attempts, names.recalls, names.suppressions, names.config];
  requireTopics(existing, [...needed, ...others], ['TAILRACE_RETRY_SCHEDULE']);
  const otherTiers = existing.filter((topic) => names.retryTierDelayMs(topic) !== undefined);
  return [...new Set([...needed, ...otherTiers])];
}

/**
 * Returns the delay of the retry topic in which deliveries of paused destinations wait: a topic of their own, or, until
 * `tailrace topics apply` has created it, the longest one of the schedule, which costs a record an hour for each delivery.
 */
export function pauseDelayMs(
  topics: readonly string[],
  names: TopicNames,
  scheduleMs: readonly number[],
): number {
  return topics.includes(names.retryTier(pauseTierMs)) ? pauseTierMs : Math.max(...scheduleMs);
}

const shareMs = 1_000;

/**
 * Returns the part of a topic's partitions that this replica owns, and that of one partition while it owns none. It is
 * computed once a second, and not for each delivery.
 *
 * @param partitions the number of partitions of the topic
 */
export function ownedShare(
  group: Pick<Consumption, 'partitions'>,
  topic: string,
  partitions: () => number,
): () => number {
  let share = 0;
  let asOf = -Infinity;
  return () => {
    const now = performance.now();
    if (now - asOf > shareMs) {
      const owned = group.partitions.filter((partition) => partition.topic === topic).length;
      share = Math.max(1, owned) / partitions();
      asOf = now;
    }
    return share;
  };
}
