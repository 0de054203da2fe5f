/**
 * A replacement for the fetch of the library's group member, with the same behaviour at lower cost. For each fetch the
 * library iterates several times over all partitions, including paused ones, and passes on a batch for each, even if it is
 * empty.
 */
import { createRequire } from 'node:module';
import { setTimeout as wait } from 'node:timers/promises';
import type { decodeFetchResponse, PartitionData } from './fetch-response.ts';
import type { FetchPartition, FetchRequest, FetchTopic } from './fetch-request.ts';
import type { FetchedRecord } from './record-batch.ts';

const require = createRequire(import.meta.url);
const filterAbortedMessages = require('kafkajs/src/consumer/filterAbortedMessages') as (answer: {
  readonly messages: readonly FetchedRecord[];
  readonly abortedTransactions: PartitionData['abortedTransactions'];
}) => readonly FetchedRecord[];

/** Decides about the fetches of one consumer, and receives what their answers show. */
export interface Fetching {
  /** How long the fetch that begins now may wait for records. */
  waitMs(): number;
  /** Called for each partition that a fetch has read, whether or not it had records, before its records are passed on. */
  readonly onAnswer?: ((answer: PartitionAnswer) => void) | undefined;
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

/** The library's class `ConsumerGroup`: the members that are used here. */
export interface Group {
  readonly cluster: {
    readonly brokerPool: { readonly metadata: unknown };
    refreshMetadataIfNecessary(): Promise<void>;
    findTopicPartitionMetadata(topic: string): readonly PartitionMetadata[];
    findBroker(options: {
      readonly nodeId: string;
    }): Promise<{ fetch(request: FetchRequest): Promise<FetchAnswer> }>;
  };
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
  maxWaitTime: number | Fetching;
  checkForStaleAssignment(): void;
  seekOffsets(topics: readonly TopicPartitions[]): Promise<void>;
  recoverFromFetch(error: unknown): Promise<void>;
  fetch: unknown;
}

type FetchAnswer = Pick<ReturnType<typeof decodeFetchResponse>, 'responses'>;

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

const layouts = new WeakMap<Group, Layout>();

/** `maxWaitTimeInMs` may also be a `Fetching`. */
export async function fetchLean(this: Group, nodeId: string): Promise<FetchedBatch[]> {
  try {
    await this.cluster.refreshMetadataIfNecessary();
    const led = layoutOf(this).ledBy.get(Number(nodeId)) ?? [];
    await this.seekOffsets(led);
    const topics = toFetch(this, led);
    const { minBytes, maxBytes, isolationLevel } = this;
    const maxWaitTime = typeof this.maxWaitTime === 'number' ? this.maxWaitTime : this.maxWaitTime.waitMs();
    if (topics.length === 0) {
      await wait(maxWaitTime);
      return [];
    }
    const broker = await this.cluster.findBroker({ nodeId });
    const answer = await broker.fetch({ maxWaitTime, minBytes, maxBytes, isolationLevel, topics });
    return batchesOf(this, topics, answer);
  } catch (error) {
    await this.recoverFromFetch(error);
    return [];
  }
}

/** @throws Error if the partitions of the topics have changed since they were assigned */
function layoutOf(group: Group): Layout {
  const { metadata } = group.cluster.brokerPool;
  const { assignedPartitionsByTopic: assignment } = group.subscriptionState;
  const assignable = group.partitionsPerSubscribedTopic;
  const known = layouts.get(group);
  if (known && known.metadata === metadata && known.assignment === assignment) {
    if (known.assignable === assignable) return known;
  }
  group.checkForStaleAssignment();
  const layout = { metadata, assignment, assignable, ledBy: groupByLeader(group) };
  layouts.set(group, layout);
  return layout;
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
  { seekOffset, subscriptionState, maxWaitTime }: Group,
  topics: readonly FetchTopic[],
  { responses }: FetchAnswer,
): FetchedBatch[] {
  const batches: FetchedBatch[] = [];
  const fetching = typeof maxWaitTime === 'number' ? undefined : maxWaitTime;
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

/** The mean length of a record as Kafka stores it. Offsets count instead of records, because the lag does so too. */
export function recordBytesOf({ bytes, messages }: Pick<PartitionData, 'bytes' | 'messages'>): number {
  const [first, last] = [messages[0]?.offset ?? 0, messages.at(-1)?.offset ?? 0];
  return bytes / (last - first + 1);
}

/** The batch of one partition, as the library passes it on. The library's own class converts each offset to a BigInt. */
export class FetchedBatch {
  readonly topic: string;
  readonly partition: number;
  readonly fetchedOffset: string;
  readonly highWatermark: string;
  readonly rawMessages: readonly FetchedRecord[];
  /** The mean length of a record as Kafka stores it, compressed. */
  readonly recordBytes: number;
  /** Kafka returns whole batches, which may begin before the requested offset. */
  readonly messagesWithinOffset: readonly FetchedRecord[];
  /** Without aborted records and transaction markers. */
  readonly messages: readonly FetchedRecord[];

  constructor(topic: string, fetchedOffset: string, data: PartitionData) {
    this.topic = topic;
    this.partition = data.partition;
    this.fetchedOffset = fetchedOffset;
    this.highWatermark = data.highWatermark;
    this.rawMessages = data.messages;
    this.recordBytes = recordBytesOf(data);
    const from = Number(fetchedOffset);
    const first = data.messages.findIndex(({ offset }) => offset >= from);
    const messages = first === 0 ? data.messages : first < 0 ? [] : data.messages.slice(first);
    const { abortedTransactions } = data;
    this.messagesWithinOffset = messages;
    this.messages = filterAbortedMessages({ messages, abortedTransactions }).filter(
      ({ isControlRecord }) => !isControlRecord,
    );
  }

  isEmpty(): boolean {
    return this.messages.length === 0;
  }

  isEmptyDueToFiltering(): boolean {
    return this.isEmpty() && this.rawMessages.length > 0;
  }

  firstOffset(): number | null {
    return this.messagesWithinOffset[0]?.offset ?? null;
  }

  lastOffset(): number {
    return this.messagesWithinOffset.at(-1)?.offset ?? Number(this.fetchedOffset);
  }

  offsetLag(): string {
    return String(Number(this.highWatermark) - 1 - this.lastOffset());
  }

  offsetLagLow(): string {
    const first = this.firstOffset();
    return first === null ? '0' : String(Number(this.highWatermark) - 1 - first);
  }
}
