/**
 * Adds partitions to topics in use, downstream topics first: a record of a new partition is written on to the same
 * partition of the next topic, which must exist by then.
 */
import { TailraceError } from '@tailrace/errors';
import { patiently, renewPatience, type Kafka, type Patience, type TopicSpec } from '@tailrace/kafka';
import { partitionGroupOf, partitionGroups, type PartitionGroup, type TopicNames } from '@tailrace/topology';

export interface Growth {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

export interface GrowthOptions {
  readonly names: TopicNames;
  readonly specs: readonly TopicSpec[];
  readonly partitions: number;
  /** Extends only the topics of this group. */
  readonly only: PartitionGroup | undefined;
  /** How long each step may take. */
  readonly patience: Patience;
  /** Called before the topic is extended. */
  readonly onTopic: (name: string) => void;
}

type Counts = ReadonlyMap<string, number>;

/**
 * Topics with as many partitions or more are not changed.
 *
 * @throws TailraceError `conflict` if topics of a group must be equal, and one of them already has more
 */
export async function addPartitions(kafka: Kafka, options: GrowthOptions): Promise<Growth[]> {
  const { partitions, patience, onTopic } = options;
  const present = await patiently(renewPatience(patience), 'the list of topics', async () =>
    kafka.describeTopics(await kafka.listTopics()),
  );
  const counts = new Map(Array.from(present, ([name, topic]) => [name, topic.partitions]));
  const order = topicsInOrder(options, [...counts.keys()]);
  for (const group of partitionGroups) checkGroup(group, order, counts, options);
  const grown: Growth[] = [];
  for (const name of order) {
    const from = counts.get(name) ?? partitions;
    if (from >= partitions) continue;
    onTopic(name);
    await kafka.addPartitions(name, partitions, renewPatience(patience));
    grown.push({ name, from, to: partitions });
  }
  return grown;
}

function checkGroup(
  group: PartitionGroup,
  order: readonly string[],
  counts: Counts,
  { names, partitions, only }: GrowthOptions,
): void {
  const topics = order.filter((name) => partitionGroupOf(names, name) === group && counts.has(name));
  const found = topics.map((name) => counts.get(name) ?? 0).sort((a, b) => b - a);
  const most = found[0] ?? 0;
  const isUnchanged = only === undefined && group === 'events' && found.at(-1) === most;
  if (most <= partitions || isUnchanged) return;
  const topic = topics.find((name) => counts.get(name) === most) ?? group;
  throw new TailraceError(
    'conflict',
    `${topic} has ${most} partitions, and Kafka cannot remove any. Give --partitions ${most} or more.`,
  );
}

/** Downstream topics first. Includes the retry topics of earlier schedules. */
function topicsInOrder({ names, specs, only }: GrowthOptions, existing: readonly string[]): string[] {
  const tiers = existing.filter((name) => names.retryTierDelayMs(name) !== undefined);
  const groups: Record<PartitionGroup, readonly string[]> = {
    deliveries: [names.deliveriesDead, ...tiers, names.deliveriesReplay, names.deliveries],
    events: [names.eventsWaiting, names.events],
  };
  if (only !== undefined) return [...groups[only]];
  const others = specs
    .filter(({ name, keepsPartitions }) => keepsPartitions !== true && !partitionGroupOf(names, name))
    .map(({ name }) => name);
  return [...others, ...groups.deliveries, ...groups.events];
}
