/** What there is, for people who look whether all is well. Nothing here changes anything. */
import type { Admin } from 'kafkajs';
import { committedOffsets, topicOffsets } from './offsets.ts';
import { describeTopics, topicSettings } from './topics.ts';

export interface ClusterReport {
  /** Every broker, at the address that it tells clients to use. */
  readonly brokers: readonly { readonly id: number; readonly host: string; readonly port: number }[];
}

export interface GroupReport {
  readonly members: number;
  /** For each topic, the records between what the group has finished and the end, all partitions together. */
  readonly lag: ReadonlyMap<string, number>;
}

/** How many copies of a topic there are, and how many of them an acknowledgement vouches for. */
export interface TopicDurability {
  readonly replicationFactor: number;
  /** `min.insync.replicas`, whether it is the topic's own or the brokers'. */
  readonly minInSync: number;
}

export async function inspectCluster(admin: Admin): Promise<ClusterReport> {
  const { brokers } = await admin.describeCluster();
  return { brokers: brokers.map(({ nodeId, host, port }) => ({ id: nodeId, host, port })) };
}

/** Of a group that never committed, everything that a topic holds is before it. */
export async function inspectGroup(
  admin: Admin,
  groupId: string,
  topics: readonly string[],
): Promise<GroupReport> {
  const { groups } = await admin.describeGroups([groupId]);
  const committed = await committedOffsets(admin, groupId, topics);
  const lag = new Map<string, number>();
  for (const topic of topics) {
    const finished = new Map(
      committed
        .find((found) => found.topic === topic)
        ?.partitions.map(({ partition, offset }) => [partition, Number(offset)]),
    );
    let behind = 0;
    for (const { partition, low, high } of await topicOffsets(admin, topic)) {
      behind += Math.max(0, Number(high) - Math.max(Number(low), finished.get(partition) ?? -1));
    }
    lag.set(topic, behind);
  }
  return { members: groups[0]?.members.length ?? 0, lag };
}

/** Of the topics that exist. */
export async function inspectDurability(
  admin: Admin,
  names: readonly string[],
): Promise<Map<string, TopicDurability>> {
  const topics = await describeTopics(admin, names);
  const setting = 'min.insync.replicas';
  const settings = await topicSettings(
    admin,
    new Map(Array.from(topics.keys(), (name) => [name, [setting]])),
  );
  return new Map(
    Array.from(topics, ([name, { replicationFactor }]) => [
      name,
      { replicationFactor, minInSync: Number(settings.get(name)?.[setting] ?? 1) },
    ]),
  );
}
