export {
  partitionGroups,
  pauseTierMs,
  tierDelaysMs,
  topicNames,
  topicSpecs,
  type PartitionGroup,
  type TopicNames,
} from './catalogue.ts';
export { partitionGroupOf, unequalPartitions, type UnequalPartitions } from './partition-counts.ts';
export { permissions, type Operation, type Permission, type UserPermissions } from './permissions.ts';
export { replicationFor } from './replication.ts';
export { requireTopics } from './require-topics.ts';
