export type { KafkaSettings } from './clients.ts';
export { connectKafka, type FinishedOffsets, type Kafka, type Partitioner } from './kafka.ts';
export type { NewPartition } from './consume/assignment.ts';
export type { Consumption } from './consume/consumption.ts';
export type { ConsumeOptions } from './consume/options.ts';
export type { PartitionLimits } from './consume/partition/limits.ts';
export { isInside } from './consume/partition/progress.ts';
export type { OwnedPartition, PartitionLag, PartitionState } from './consume/reports.ts';
export type { DueRecord, TrackedRecord, Work } from './consume/partition/tracked-record.ts';
export type { ExclusivePublisher, ExclusiveRecord } from './publish/exclusive-publisher.ts';
export type { Follower } from './read/follower.ts';
export { patiently, renewPatience, startPatience, type Patience } from './admin/patience.ts';
export type { GroupReport, TopicDurability } from './admin/inspect.ts';
export type { KafkaLog } from './log.ts';
export { highestOf } from './lag/partition-lag.ts';
export type { Publisher } from './publish/publisher.ts';
export {
  lastOfEach,
  readBack,
  type ConsumedRecord,
  type OutgoingHeaders,
  type OutgoingRecord,
  type RecordHeader,
} from './record.ts';
export { type KafkaObserver, type RequestApi, type RequestOutcome } from './observer.ts';
export type { Scan, ScanOptions } from './read/scan.ts';
export type { Tail, TailOptions, TailPart, TailPosition } from './read/tail.ts';
export type { TopicReport, TopicSpec } from './admin/topic-spec.ts';
export type { Span } from './consume/unfinished.ts';
export type { UnreadableBatch } from './unreadable.ts';
