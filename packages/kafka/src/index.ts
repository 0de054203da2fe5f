export { connectKafka, type Kafka, type KafkaSettings, type Partitioner } from './connect.ts';
export type { NewPartition, PreparePartitions } from './assignment.ts';
export type {
  Consumption,
  ConsumeOptions,
  OwnedPartition,
  PartitionLimits,
  PartitionState,
  TrackedRecord,
  Work,
} from './consumption.ts';
export type {
  ExclusivePublisher,
  ExclusivePublisherOptions,
  ExclusiveRecord,
} from './publish/exclusive-publisher.ts';
export type { Follower, FollowOptions } from './follower.ts';
export type { ClusterReport, GroupReport, TopicDurability } from './inspect.ts';
export type { KafkaLog } from './log.ts';
export type { Publisher, PublisherOptions } from './publish/publisher.ts';
export {
  lastOfEach,
  readBack,
  type ConsumedRecord,
  type OutgoingHeaders,
  type OutgoingRecord,
  type RecordHeader,
} from './record.ts';
export type { Scan, ScanOptions } from './scan.ts';
export type { Tail, TailOptions, TailPosition } from './tail.ts';
export type { TopicDescription, TopicReport, TopicSpec } from './topics.ts';
export type { Span } from './unfinished.ts';
export type { UnreadableBatch } from './unreadable.ts';
