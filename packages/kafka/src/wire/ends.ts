/**
 * Reads where the partitions of a topic end, with the records of open transactions. The library's administration client
 * stops before the first open transaction, although records behind it were acknowledged.
 */
import type { Admin, SeekEntry } from 'kafkajs';

/** The library's class `Cluster`: the members that are used here. */
interface Cluster {
  readonly isolationLevel?: number;
  addTargetTopic(topic: string): Promise<void>;
  refreshMetadataIfNecessary(): Promise<void>;
  findTopicPartitionMetadata(topic: string): readonly { readonly partitionId: number }[];
  fetchTopicsOffset(
    topics: readonly {
      readonly topic: string;
      readonly fromBeginning: boolean;
      readonly partitions: readonly { readonly partition: number }[];
    }[],
  ): Promise<readonly { readonly partitions: SeekEntry[] }[]>;
}

const readUncommitted = 0;

/** An administration client with the request that this file adds. */
export interface EndReader {
  readEnds(topic: string): Promise<SeekEntry[]>;
}

/** Adds the request to the clients that a function of the library creates. */
export function withEnds<Options extends { readonly cluster: unknown }, Client extends Admin>(
  create: (options: Options) => Client,
): (options: Options) => Client & EndReader {
  return (options) => {
    // The same cluster, which asks for the ends at this level.
    const cluster = Object.create(options.cluster as Cluster, {
      isolationLevel: { value: readUncommitted },
    }) as Cluster;
    return { ...create(options), readEnds: (topic) => fetchEnds(cluster, topic) };
  };
}

/** Returns the offset after the last record of each partition. */
export function readEnds(admin: Admin, topic: string): Promise<SeekEntry[]> {
  return (admin as Admin & EndReader).readEnds(topic);
}

async function fetchEnds(cluster: Cluster, topic: string): Promise<SeekEntry[]> {
  await cluster.addTargetTopic(topic);
  await cluster.refreshMetadataIfNecessary();
  const partitions = cluster
    .findTopicPartitionMetadata(topic)
    .map(({ partitionId }) => ({ partition: partitionId }));
  const [found] = await cluster.fetchTopicsOffset([{ topic, fromBeginning: false, partitions }]);
  return found?.partitions ?? [];
}
