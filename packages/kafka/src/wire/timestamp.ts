/** Reads the timestamp and the length of one record outside of any group. The library's administration client has no such request. */
import type { Admin } from 'kafkajs';
import type { FetchRequest } from './fetch-request.ts';
import type { decodeFetchResponse } from './fetch-response.ts';
import { recordBytesOf } from './group.ts';

/** The library's class `Cluster`: the members that are used here. */
interface Cluster {
  addTargetTopic(topic: string): Promise<void>;
  refreshMetadataIfNecessary(): Promise<void>;
  findTopicPartitionMetadata(
    topic: string,
  ): readonly { readonly partitionId: number; readonly leader: number }[];
  findBroker(options: { readonly nodeId: string }): Promise<{
    fetch(request: FetchRequest): Promise<Pick<ReturnType<typeof decodeFetchResponse>, 'responses'>>;
  }>;
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

/** An administration client with the request that this file adds. */
export interface RecordReader {
  readFirst(place: Place): Promise<FirstRecord | undefined>;
}

/** Adds the request to the clients that a function of the library creates. */
export function withRecords<Options extends { readonly cluster: unknown }>(
  create: (options: Options) => Admin,
): (options: Options) => Admin & RecordReader {
  return (options) => {
    const cluster = options.cluster as Cluster;
    return { ...create(options), readFirst: (place) => fetchFirst(cluster, place) };
  };
}

/** Returns the first record at the offset or after it; undefined if there is none. */
export function readFirst(admin: Admin, place: Place): Promise<FirstRecord | undefined> {
  return (admin as Admin & RecordReader).readFirst(place);
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
    isolationLevel: 0,
    topics: [{ topic, partitions: [{ partition, fetchOffset: String(offset), maxBytes: 1 }] }],
  });
  const data = responses[0]?.partitions[0];
  const first = data?.messages.find((record) => record.offset >= offset);
  return data && first && { timestamp: first.timestamp, recordBytes: recordBytesOf(data) };
}
