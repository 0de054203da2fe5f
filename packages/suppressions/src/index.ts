export { isOfDeletedUser } from './deleted-deliveries.ts';
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
} from './record.ts';
export { KeyNumbers } from './key-numbers.ts';
export { openSuppressions, type DeletedUsers, type SuppressedUsers, type Suppressions } from './view.ts';
