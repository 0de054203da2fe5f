export {
  partitionGroups,
  pauseTierMs,
  tierDelaysMs,
  topicNames,
  topicSpecs,
  type PartitionGroup,
  type TopicNames,
  type TopicOptions,
} from './catalogue.ts';
export {
  decodeAudit,
  encodeAudit,
  newAudit,
  type AuditActor,
  type AuditedField,
  type AuditRecord,
} from './audit.ts';
export {
  decodeDelivery,
  deliveryKey,
  encodeDelivery,
  eventAcceptedAtHeader,
  progressHeaders,
  replayedFromHeader,
  userKeyOf,
  type Delivery,
} from './delivery.ts';
export { decisionSentences } from './decision-text.ts';
export {
  decisionLimits,
  decodeDecision,
  encodeDecision,
  type Decision,
  type DecisionGroup,
  type DecisionRule,
  type FilteredDestinations,
} from './decision.ts';
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
export { permissions, type Operation, type Permission, type UserPermissions } from './permissions.ts';
export { replicationFor, type Replication } from './replication.ts';
export { formatPosition, parsePosition, type RecordPosition } from './position.ts';
export { requireTopics } from './require-topics.ts';
export {
  allSources,
  decodeSuppression,
  deletedKey,
  deletedUntil,
  encodeDeleted,
  encodeSuppressed,
  maxSuppressions,
  suppressedKey,
  type DeletedUser,
  type SuppressedUser,
  type SuppressionRecord,
  type UserDeletion,
} from './suppressions/record.ts';
export { KeyNumbers } from './suppressions/key-numbers.ts';
export {
  openSuppressions,
  type DeletedUsers,
  type Deletion,
  type SuppressedUsers,
  type Suppressions,
} from './suppressions/view.ts';
export type { AttemptRecord, UrlAttempt } from './attempt.ts';
export type { EventUsage, UsageRecord } from './usage.ts';
