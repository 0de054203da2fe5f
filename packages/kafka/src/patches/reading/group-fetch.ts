/**
 * Defects: for each fetch the library iterates several times over all partitions, including paused ones, and passes on a batch for each,
 * even if it is empty. Each fetch waits equally long for records, so what is resumed or due meanwhile is noticed late.
 *
 * Upstream: no issue found.
 *
 * Patch: a fetch of a group member with the same behaviour at lower cost, which asks for each fetch how long it may wait, and reports what
 * its answer shows.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Consumer } from 'kafkajs';
import { FetchedBatch } from '../../wire/fetched-batch.ts';
import { replacing, type LibraryClass, type Patch } from '../apply.ts';
import type { FetchPartition, FetchRequest, FetchTopic } from './fetch-request.ts';
import type { FetchAnswer } from './fetch-response.ts';

/** Decides about the fetches of one consumer, and receives what their answers show. */
export interface Fetching {
  /** How long the fetch that begins now may wait for records. */
  waitMs(): number;
  /** How much, compressed, it asks for; default: as the consumer is configured. */
  readonly maxBytes?: (() => number) | undefined;
  /** Called for each partition that a fetch has read, whether or not it had records, before its records are passed on. */
  readonly onAnswer?: ((answer: PartitionAnswer) => void) | undefined;
  /**
   * Takes what a fetch has read of all partitions together, where the library would pass on one partition at a time. The next fetch of
   * the same broker begins when it has resolved. Must not reject.
   */
  readonly take?: ((batches: readonly FetchedBatch[]) => Promise<void>) | undefined;
}

export interface PartitionAnswer {
  readonly topic: string;
  readonly partition: number;
  readonly fetchedFrom: number;
  /** The end offset of the partition. */
  readonly end: number;
  /** Whether the broker had no more records. The end offset may be higher: compaction may remove the last ones. */
  readonly isAtEnd: boolean;
}

/** The library's class `Cluster`, of which each client has one: the members that are used here. */
interface Cluster {
  readonly brokerPool: { readonly metadata: unknown };
  refreshMetadataIfNecessary(): Promise<void>;
  findTopicPartitionMetadata(topic: string): readonly PartitionMetadata[];
  findBroker(options: {
    readonly nodeId: string;
  }): Promise<{ fetch(request: FetchRequest): Promise<FetchAnswer> }>;
}

/** The library's class `ConsumerGroup`: the members that are used here. */
interface Group {
  readonly cluster: Cluster;
  readonly subscriptionState: {
    readonly assignedPartitionsByTopic: Readonly<Record<string, TopicPartitions>>;
    isPaused(topic: string, partition: number): boolean;
  };
  readonly seekOffset: { readonly size: number; has(topic: string, partition: number): boolean };
  readonly offsetManager: {
    committedOffsets(): Readonly<Record<string, Readonly<Record<number, unknown>>>>;
    nextOffset(topic: string, partition: number): { toString(): string };
  };
  readonly partitionsPerSubscribedTopic: unknown;
  readonly maxBytesPerPartition: number;
  readonly minBytes: number;
  readonly maxBytes: number;
  readonly isolationLevel: number;
  readonly maxWaitTime: number;
  checkForStaleAssignment(): void;
  seekOffsets(topics: readonly TopicPartitions[]): Promise<void>;
  resolveOffset(last: { readonly topic: string; readonly partition: number; readonly offset: string }): void;
  recoverFromFetch(error: unknown): Promise<void>;
  fetch(nodeId: string): Promise<FetchedBatch[]>;
}

interface TopicPartitions {
  readonly topic: string;
  readonly partitions: readonly number[];
}

interface PartitionMetadata {
  readonly partitionId: number;
  readonly leader: number;
}

/** Valid as long as metadata and assignment are the same. */
interface Layout {
  readonly metadata: unknown;
  readonly assignment: unknown;
  readonly assignable: unknown;
  readonly ledBy: ReadonlyMap<number, readonly TopicPartitions[]>;
}

type CreateConsumer = (options: { readonly cluster: Cluster }) => Consumer;

const clusters = new WeakMap<Consumer, Cluster>();
const fetchings = new WeakMap<Cluster, Fetching>();

/** Lets `fetching` decide about all fetches of a consumer that does not run yet. */
export function decideFetches(consumer: Consumer, fetching: Fetching): void {
  const cluster = clusters.get(consumer);
  if (!cluster) throw new Error('the consumer is not of the patched library');
  fetchings.set(cluster, fetching);
}

export const groupFetch: readonly Patch[] = [
  replacing('consumer/consumerGroup', leanGroup),
  replacing('consumer/index', (create: CreateConsumer): CreateConsumer => (options) => {
    const consumer = create(options);
    clusters.set(consumer, options.cluster);
    return consumer;
  }),
];

function leanGroup(Original: LibraryClass<Group>): LibraryClass<Group> {
  return class LeanGroup extends Original {
    readonly #fetching = fetchings.get(this.cluster);
    #layout: Layout | undefined;

    override async fetch(nodeId: string): Promise<FetchedBatch[]> {
      try {
        await this.cluster.refreshMetadataIfNecessary();
        this.#layout = currentLayout(this, this.#layout);
        const led = this.#layout.ledBy.get(Number(nodeId)) ?? [];
        await this.seekOffsets(led);
        const topics = toFetch(this, led);
        const { minBytes, isolationLevel } = this;
        const maxBytes = this.#fetching?.maxBytes?.() ?? this.maxBytes;
        const maxWaitTime = this.#fetching?.waitMs() ?? this.maxWaitTime;
        if (topics.length === 0) {
          await wait(maxWaitTime);
          return [];
        }
        const broker = await this.cluster.findBroker({ nodeId });
        const answer = await broker.fetch({ maxWaitTime, minBytes, maxBytes, isolationLevel, topics });
        const batches = batchesOf(this, topics, answer, this.#fetching);
        const take = this.#fetching?.take;
        if (!take || batches.length === 0) return batches;
        await take(batches);
        for (const batch of batches) {
          const { topic, partition } = batch;
          this.resolveOffset({ topic, partition, offset: String(batch.lastOffset()) });
        }
        return [];
      } catch (error) {
        await this.recoverFromFetch(error);
        return [];
      }
    }
  };
}

/** @throws Error if the partitions of the topics have changed since they were assigned */
function currentLayout(group: Group, known: Layout | undefined): Layout {
  const { metadata } = group.cluster.brokerPool;
  const { assignedPartitionsByTopic: assignment } = group.subscriptionState;
  const assignable = group.partitionsPerSubscribedTopic;
  if (known && known.metadata === metadata && known.assignment === assignment) {
    if (known.assignable === assignable) return known;
  }
  group.checkForStaleAssignment();
  return { metadata, assignment, assignable, ledBy: groupByLeader(group) };
}

function groupByLeader({ cluster, subscriptionState }: Group): Map<number, TopicPartitions[]> {
  const ledBy = new Map<number, TopicPartitions[]>();
  for (const { topic, partitions } of Object.values(subscriptionState.assignedPartitionsByTopic)) {
    const metadata = cluster.findTopicPartitionMetadata(topic);
    const leaderOf = new Map(metadata.map(({ partitionId, leader }) => [partitionId, leader]));
    for (const [leader, ofLeader] of Map.groupBy(partitions, (partition) => leaderOf.get(partition))) {
      if (leader === undefined) continue;
      const topics = ledBy.get(leader) ?? [];
      ledBy.set(leader, topics);
      topics.push({ topic, partitions: ofLeader });
    }
  }
  return ledBy;
}

function toFetch(group: Group, led: readonly TopicPartitions[]): FetchTopic[] {
  const { offsetManager, subscriptionState, maxBytesPerPartition: maxBytes } = group;
  const committed = offsetManager.committedOffsets();
  const topics: FetchTopic[] = [];
  for (const { topic, partitions } of led) {
    const wanted: FetchPartition[] = [];
    for (const partition of partitions) {
      // The library is looking up its committed offset.
      if ((committed[topic]?.[partition] ?? null) === null) continue;
      if (subscriptionState.isPaused(topic, partition)) continue;
      const fetchOffset = offsetManager.nextOffset(topic, partition).toString();
      wanted.push({ partition, fetchOffset, maxBytes });
    }
    if (wanted.length > 0) topics.push({ topic, partitions: wanted });
  }
  return topics;
}

/** Leaves out empty batches, and partitions that were paused or moved to another offset during the fetch. */
function batchesOf(
  { seekOffset, subscriptionState }: Group,
  topics: readonly FetchTopic[],
  { responses }: FetchAnswer,
  fetching: Fetching | undefined,
): FetchedBatch[] {
  const batches: FetchedBatch[] = [];
  const isEmpty = responses.every(({ partitions }) =>
    partitions.every(({ messages }) => messages.length === 0),
  );
  for (const { topicName: topic, partitions } of responses) {
    const requested = topics.find((one) => one.topic === topic)?.partitions;
    for (const data of partitions) {
      const { partition, messages } = data;
      const fetchOffset = requested?.find((one) => one.partition === partition)?.fetchOffset;
      if (fetchOffset === undefined) continue;
      if (seekOffset.size > 0 && seekOffset.has(topic, partition)) continue;
      const [fetchedFrom, end] = [Number(fetchOffset), Number(data.highWatermark)];
      const isAtEnd = messages.length === 0 && (isEmpty || fetchedFrom >= end);
      fetching?.onAnswer?.({ topic, partition, fetchedFrom, end, isAtEnd });
      if (messages.length === 0 || subscriptionState.isPaused(topic, partition)) continue;
      batches.push(new FetchedBatch(topic, fetchOffset, data));
    }
  }
  return batches;
}
