/**
 * Reads where the partitions of topics end, with the records of open transactions, in one request for each leader. The library's
 * administration client stops before the first open transaction, although records behind it were acknowledged. It also asks for one
 * topic at a time, and its requests for several topics wait for each other under a lock, whose timeout ten topics reach on a
 * slow broker.
 */
import type { Admin, SeekEntry } from 'kafkajs';

/** The library's class `Cluster`: the members that are used here. */
interface Cluster {
  readonly isolationLevel?: number;
  addMultipleTargetTopics(topics: readonly string[]): Promise<void>;
  refreshMetadata(): Promise<void>;
  findTopicPartitionMetadata(topic: string): readonly { readonly partitionId: number }[];
  fetchTopicsOffset(
    topics: readonly {
      readonly topic: string;
      readonly fromBeginning: boolean;
      readonly partitions: readonly { readonly partition: number }[];
    }[],
  ): Promise<readonly TopicEnds[]>;
}

export interface TopicEnds {
  readonly topic: string;
  readonly partitions: SeekEntry[];
}

const readUncommitted = 0;

/** An administration client with the request that this file adds. */
export interface EndReader {
  readEnds(topics: readonly string[]): Promise<readonly TopicEnds[]>;
}

/** Adds the request to the clients that a function of the library creates. */
export function withEnds<Options extends { readonly cluster: unknown }, Client extends Admin>(
  create: (options: Options) => Client,
): (options: Options) => Client & EndReader {
  return (options) => {
    const cluster = options.cluster as Cluster;
    return { ...create(options), readEnds: (topics) => fetchEnds(cluster, topics) };
  };
}

/** Returns the offset after the last record of each partition. Fails unless each partition has a leader that knows that it is. */
export function readEnds(admin: Admin, topics: readonly string[]): Promise<readonly TopicEnds[]> {
  return (admin as Admin & EndReader).readEnds(topics);
}

async function fetchEnds(cluster: Cluster, topics: readonly string[]): Promise<readonly TopicEnds[]> {
  await cluster.addMultipleTargetTopics(topics);
  // Leaders may have moved since an earlier question.
  await cluster.refreshMetadata();
  const partitionsOf = (topic: string): { readonly partition: number }[] =>
    cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => ({ partition: partitionId }));
  // The same cluster, which asks for the ends at this level. The topics are added to the original: where one does not exist, the
  // library takes its list of topics back by a write, which would change the copy alone and leave the topic in the original for ever.
  const atLevel = Object.create(cluster, { isolationLevel: { value: readUncommitted } }) as Cluster;
  return atLevel.fetchTopicsOffset(
    topics.map((topic) => ({ topic, fromBeginning: false, partitions: partitionsOf(topic) })),
  );
}
