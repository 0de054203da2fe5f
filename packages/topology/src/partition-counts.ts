/**
 * Checks that the topics of a group have the same number of partitions: `deliveries`, the retry topics, the replay topic and the
 * dead letters; and `events` with `events.waiting`. A record keeps its partition number when it moves within a group, so it
 * cannot be written where a topic lacks that partition.
 */
import type { PartitionGroup, TopicNames } from './catalogue.ts';

/** The group of the topic; undefined where it belongs to none. */
export function partitionGroupOf(names: TopicNames, topic: string): PartitionGroup | undefined {
  if ([names.events, names.eventsWaiting].includes(topic)) return 'events';
  const isDeliveries =
    [names.deliveries, names.deliveriesDead, names.deliveriesReplay].includes(topic) ||
    names.retryTierDelayMs(topic) !== undefined;
  return isDeliveries ? 'deliveries' : undefined;
}

export interface UnequalPartitions {
  /** The number of missing partitions of all topics together. */
  readonly missing: number;
  /** For the operator: the topics with their numbers of partitions, and the command that makes them equal. */
  readonly message: string;
}

/**
 * Undefined where the counts are equal.
 *
 * @param counts partitions by topic; topics outside the group are ignored
 */
export function unequalPartitions(
  names: TopicNames,
  counts: ReadonlyMap<string, number>,
  groupName: PartitionGroup = 'deliveries',
): UnequalPartitions | undefined {
  const group = [...counts].filter(([topic]) => partitionGroupOf(names, topic) === groupName);
  const byCount = [...Map.groupBy(group, ([, count]) => count)].sort(([a], [b]) => b - a);
  const [highest] = byCount[0] ?? [];
  if (byCount.length <= 1 || highest === undefined) return undefined;
  const listed = byCount.map(
    ([count, topics]) =>
      `${topics.map(([topic]) => topic).join(', ')} (${count === 1 ? '1 partition' : `${count} partitions`})`,
  );
  return {
    missing: group.reduce((missing, [, count]) => missing + highest - count, 0),
    message:
      `These topics must have equally many partitions, but do not: ${listed.join('; ')}. ` +
      `Make them equal with \`npx tailrace topics apply --partitions ${highest} --only ${groupName}\`.`,
  };
}
