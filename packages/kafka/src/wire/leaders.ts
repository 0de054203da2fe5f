/**
 * Asks all leaders of several topics in one request for each broker. The library asks for one topic at a time, and its
 * requests for several topics wait for each other under a lock, whose timeout ten topics reach on a slow broker.
 */
import type { Admin } from 'kafkajs';

/** The library's class `Cluster`: the members that are used here. */
interface Cluster {
  addMultipleTargetTopics(topics: readonly string[]): Promise<void>;
  refreshMetadata(): Promise<void>;
  findTopicPartitionMetadata(topic: string): readonly { readonly partitionId: number }[];
  fetchTopicsOffset(
    topics: readonly {
      readonly topic: string;
      readonly fromBeginning: boolean;
      readonly partitions: readonly { readonly partition: number }[];
    }[],
  ): Promise<unknown>;
}

/** An administration client with the request that this file adds. */
export interface LeaderCheck {
  askLeaders(topics: readonly string[]): Promise<void>;
}

/** Adds the request to the clients that a function of the library creates. */
export function withLeaderCheck<Options extends { readonly cluster: unknown }, A extends Admin>(
  create: (options: Options) => A,
): (options: Options) => A & LeaderCheck {
  return (options) => {
    const cluster = options.cluster as Cluster;
    return { ...create(options), askLeaders: (topics) => ask(cluster, topics) };
  };
}

/** Resolves if the leader of each partition knows that it is. Every partition must have one. */
export function askLeaders(admin: Admin, topics: readonly string[]): Promise<void> {
  return (admin as Admin & LeaderCheck).askLeaders(topics);
}

async function ask(cluster: Cluster, topics: readonly string[]): Promise<void> {
  await cluster.addMultipleTargetTopics(topics);
  // Leaders may have moved since an earlier question.
  await cluster.refreshMetadata();
  await cluster.fetchTopicsOffset(
    topics.map((topic) => ({
      topic,
      fromBeginning: false,
      partitions: cluster
        .findTopicPartitionMetadata(topic)
        .map(({ partitionId }) => ({ partition: partitionId })),
    })),
  );
}
