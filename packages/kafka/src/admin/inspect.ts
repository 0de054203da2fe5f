/** Reports on brokers, consumer groups and durability. Read-only. */
import type { Admin } from '../patches/reading/admin-requests.ts';
import { committedOffsets, topicOffsets } from './offsets.ts';
import { describeTopics, topicSettings } from './topics.ts';

export interface ClusterReport {
  /** Each broker with its advertised address. */
  readonly brokers: readonly { readonly id: number; readonly host: string; readonly port: number }[];
}

export interface GroupReport {
  readonly members: number;
  /** By topic, the records between the committed offsets and the end, summed over all partitions. */
  readonly lag: ReadonlyMap<string, number>;
  /** By topic, of each partition with lag: the offset of the first record that is not committed. */
  readonly heads: ReadonlyMap<string, ReadonlyMap<number, number>>;
}

/** The number of replicas of a topic, and of those that an acknowledgement guarantees. */
export interface TopicDurability {
  readonly replicationFactor: number;
  /** `min.insync.replicas` of the topic, or the brokers' default. */
  readonly minInSync: number;
}

/** The state of the replicas of a topic. */
export interface TopicHealth {
  readonly partitions: number;
  /** Partitions of which a replica is not in sync. */
  readonly underReplicated: number;
  /** Partitions without a leader, which cannot be read or written. */
  readonly leaderless: number;
}

export async function inspectCluster(admin: Admin): Promise<ClusterReport> {
  const { brokers } = await admin.describeCluster();
  return { brokers: brokers.map(({ nodeId, host, port }) => ({ id: nodeId, host, port })) };
}

/** The lag of a group that never committed is everything in the topic. */
export async function inspectGroup(
  admin: Admin,
  groupId: string,
  topics: readonly string[],
): Promise<GroupReport> {
  const { groups } = await admin.describeGroups([groupId]);
  const committed = await committedOffsets(admin, groupId, topics);
  const lag = new Map<string, number>();
  const heads = new Map<string, ReadonlyMap<number, number>>();
  for (const topic of topics) {
    const finished = new Map(
      committed
        .find((found) => found.topic === topic)
        ?.partitions.map(({ partition, offset }) => [partition, Number(offset)]),
    );
    let behind = 0;
    const first = new Map<number, number>();
    for (const { partition, low, high } of await topicOffsets(admin, topic)) {
      const head = Math.max(Number(low), finished.get(partition) ?? -1);
      if (head < Number(high)) first.set(partition, head);
      behind += Math.max(0, Number(high) - head);
    }
    lag.set(topic, behind);
    heads.set(topic, first);
  }
  return { members: groups[0]?.members.length ?? 0, lag, heads };
}

/** Topics that do not exist are left out. */
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

/** All topics must exist. */
export async function inspectHealth(
  admin: Admin,
  names: readonly string[],
): Promise<Map<string, TopicHealth>> {
  if (names.length === 0) return new Map();
  const { topics } = await admin.fetchTopicMetadata({ topics: [...names] });
  return new Map(
    topics.map(({ name, partitions }) => [
      name,
      {
        partitions: partitions.length,
        underReplicated: partitions.filter(({ isr, replicas }) => isr.length < replicas.length).length,
        leaderless: partitions.filter(({ leader }) => leader < 0).length,
      },
    ]),
  );
}
