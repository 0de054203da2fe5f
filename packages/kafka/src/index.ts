export { connectKafka, type Kafka, type KafkaSettings, type Partitioner } from './connect.ts';
export type { NewPartition, PreparePartitions } from './assignment.ts';
export type {
  Consumption,
  ConsumeOptions,
  PartitionLimits,
  PartitionState,
  TrackedRecord,
  Work,
} from './consumption.ts';
export type {
  ExclusivePublisher,
  ExclusivePublisherOptions,
  ExclusiveRecord,
} from './exclusive-publisher.ts';
export type { Follower, FollowOptions } from './follower.ts';
export type { ClusterReport, GroupReport } from './inspect.ts';
export type { KafkaLog } from './log.ts';
export type { Publisher, PublisherOptions } from './publisher.ts';
export type { ConsumedRecord, OutgoingRecord } from './record.ts';
export type { Scan, ScanOptions } from './scan.ts';
export type { Tail, TailOptions, TailPosition } from './tail.ts';
export type { TopicReport, TopicSpec } from './topics.ts';
