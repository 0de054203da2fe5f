/**
 * Defects: the library's administration client has no request for
 *
 * - where partitions end, open transactions included: it stops before the first open transaction, although records behind it were
 *   acknowledged. It also asks for one topic at a time, and its requests for several topics wait for each other under a lock, whose timeout
 *   ten topics reach on a slow broker;
 * - one record outside of any group.
 *
 * Upstream: tulios/kafkajs#1731 for the lock; no issue found for the others.
 *
 * Patch: administration clients have two requests more.
 */
import type * as Library from 'kafkajs';
import { recordBytesOf } from '../../wire/fetched-batch.ts';
import { replacing } from '../apply.ts';
import type { FetchRequest } from './fetch-request.ts';
import type { FetchAnswer } from './fetch-response.ts';

export interface TopicEnds {
  readonly topic: string;
  readonly partitions: Library.SeekEntry[];
}

interface Place {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

export interface FirstRecord {
  readonly timestamp: number;
  /** The mean length of the records of its batch. */
  readonly recordBytes: number;
}

/** The administration client of the patched library. */
export interface Admin extends Library.Admin {
  /** Returns the offset after the last record of each partition. Fails unless each partition has a leader that knows that it is. */
  readEnds(topics: readonly string[]): Promise<readonly TopicEnds[]>;
  /** Returns the first record at the offset or after it; undefined if there is none. */
  readFirst(place: Place): Promise<FirstRecord | undefined>;
}

/** The library's class `Cluster`: the members that are used here. */
interface Cluster {
  readonly isolationLevel?: number;
  addTargetTopic(topic: string): Promise<void>;
  addMultipleTargetTopics(topics: readonly string[]): Promise<void>;
  refreshMetadata(): Promise<void>;
  refreshMetadataIfNecessary(): Promise<void>;
  findTopicPartitionMetadata(
    topic: string,
  ): readonly { readonly partitionId: number; readonly leader: number }[];
  findBroker(options: { readonly nodeId: string }): Promise<{
    fetch(request: FetchRequest): Promise<FetchAnswer>;
  }>;
  fetchTopicsOffset(
    topics: readonly {
      readonly topic: string;
      readonly fromBeginning: boolean;
      readonly partitions: readonly { readonly partition: number }[];
    }[],
  ): Promise<readonly TopicEnds[]>;
}

type CreateAdmin<Client> = (options: { readonly cluster: Cluster }) => Client;

export const adminRequests = replacing(
  'admin/index',
  (create: CreateAdmin<Library.Admin>): CreateAdmin<Admin> =>
    (options) => ({
      ...create(options),
      readEnds: (topics) => fetchEnds(options.cluster, topics),
      readFirst: (place) => fetchFirst(options.cluster, place),
    }),
);

const readUncommitted = 0;

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

async function fetchFirst(
  cluster: Cluster,
  { topic, partition, offset }: Place,
): Promise<FirstRecord | undefined> {
  await cluster.addTargetTopic(topic);
  await cluster.refreshMetadataIfNecessary();
  const leader = cluster
    .findTopicPartitionMetadata(topic)
    .find(({ partitionId }) => partitionId === partition);
  if (!leader) return undefined;
  const broker = await cluster.findBroker({ nodeId: String(leader.leader) });
  const { responses } = await broker.fetch({
    // Kafka returns at least one batch, also if it is larger.
    maxWaitTime: 0,
    minBytes: 0,
    maxBytes: 1,
    // Records of an open transaction are unfinished too.
    isolationLevel: readUncommitted,
    topics: [{ topic, partitions: [{ partition, fetchOffset: String(offset), maxBytes: 1 }] }],
  });
  const data = responses[0]?.partitions[0];
  const first = data?.messages.find((record) => record.offset >= offset);
  return data && first && { timestamp: first.timestamp, recordBytes: recordBytesOf(data) };
}
