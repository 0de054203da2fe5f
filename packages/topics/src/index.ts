export {
  partitionGroups,
  tierDelaysMs,
  topicNames,
  topicSpecs,
  type PartitionGroup,
  type TopicNames,
  type TopicOptions,
} from './catalogue.ts';
export {
  decodeDelivery,
  deliveryKey,
  encodeDelivery,
  progressHeaders,
  replayedFromHeader,
  userKeyOf,
  type Delivery,
} from './delivery.ts';
export { formatDuration, parseDuration, parseMoment } from './duration.ts';
export { partitionGroupOf, unequalPartitions, type UnequalPartitions } from './partition-counts.ts';
export {
  decodeRecall,
  encodeRecallRequest,
  encodeRecallState,
  isMarked,
  type RecallKind,
  type RecallMark,
  type RecallProgress,
  type RecallRecord,
  type RecallRequest,
  type RecallState,
} from './recall.ts';
export { replicationFor, type Replication } from './replication.ts';
export type { AttemptRecord, UrlAttempt } from './attempt.ts';
export type { EventUsage, UsageRecord } from './usage.ts';
