/**
 * Whether topics that must have equally many partitions have: `deliveries`, its tiers, the replay lane and the dead
 * letters; and `events` with its waiting records. What goes on from one of them to another keeps its partition number;
 * where a topic lacks that partition, it cannot be written.
 */
import type { TopicNames } from './catalogue.ts';

export const partitionGroups = ['deliveries', 'events'] as const;
export type PartitionGroup = (typeof partitionGroups)[number];

/** The group of topics with equally many partitions that the topic belongs to, where it does. */
export function partitionGroupOf(names: TopicNames, topic: string): PartitionGroup | undefined {
  if ([names.events, names.eventsWaiting].includes(topic)) return 'events';
  const isDeliveries =
    [names.deliveries, names.deliveriesDead, names.deliveriesReplay].includes(topic) ||
    names.retryTierDelayMs(topic) !== undefined;
  return isDeliveries ? 'deliveries' : undefined;
}

export interface UnequalPartitions {
  /** How many partitions all topics together lack. */
  readonly missing: number;
  /** Sentences for an operator: which topics have how many, and the command that makes them equal. */
  readonly message: string;
}

/**
 * Undefined where the counts are equal.
 *
 * @param counts partitions by topic; other topics are left out
 */
export function unequalPartitions(
  names: TopicNames,
  counts: ReadonlyMap<string, number>,
  groupName: PartitionGroup = 'deliveries',
): UnequalPartitions | undefined {
  const group = [...counts].filter(([topic]) => partitionGroupOf(names, topic) === groupName);
  const byCount = [...Map.groupBy(group, ([, count]) => count)].sort(([a], [b]) => b - a);
  const [most] = byCount[0] ?? [];
  if (byCount.length <= 1 || most === undefined) return undefined;
  const listed = byCount.map(
    ([count, topics]) =>
      `${topics.map(([topic]) => topic).join(', ')} (${count === 1 ? '1 partition' : `${count} partitions`})`,
  );
  return {
    missing: group.reduce((missing, [, count]) => missing + most - count, 0),
    message:
      `These topics must have equally many partitions, and do not: ${listed.join('; ')}. ` +
      `Make them equal with \`npx tailrace topics apply --partitions ${most} --only ${groupName}\`.`,
  };
}
