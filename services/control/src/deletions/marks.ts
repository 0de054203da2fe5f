/**
 * The records of a deletion request besides its `delete` events: a mark of each user in `suppressions`, so that pending
 * deliveries and replays of her earlier events end, and her removal from the audiences. They are written before the events.
 */
import type { OutgoingRecord, Partitioner } from '@tailrace/kafka';
import { encodeDeleted, deletedKey, type DeletedUser } from '@tailrace/suppressions';
import type { TopicNames } from '@tailrace/topology';
import { memberRecord } from '../audiences/state/records.ts';
import type { UserIndex } from '../suppressions/user-index.ts';
import type { DeletionRequest } from './request.ts';

/** Of one user, so that a record stays small. Earlier ones are forgotten; the later ones cover them. */
const maxRequests = 10;

/** Marks and removals for one user. */
function perUser({ scopes = [], audiences = [] }: DeletionRequest): number {
  return scopes.length + audiences.length;
}

/** The number of marks and removals of the request; 0 for one of a release that made none. */
export function marksOf(request: DeletionRequest): number {
  return request.users * perUser(request);
}

interface MarkContext {
  /** Everything that was written before. */
  readonly users: Pick<UserIndex, 'deleted'>;
  /** Of `events`. */
  readonly partitioner: Partitioner;
  readonly now: number;
}

/** The record of the `nth` mark or removal, user by user. */
export function markRecordOf(
  names: Pick<TopicNames, 'suppressions' | 'audiences'>,
  request: DeletionRequest,
  nth: number,
  { users, partitioner, now }: MarkContext,
): OutgoingRecord {
  const { id, userIds = [], scopes = [], audiences = [], ends = [] } = request;
  const userId = userIds[Math.floor(nth / perUser(request))] ?? '';
  const place = nth % perUser(request);
  const scope = scopes[place];
  if (scope === undefined) {
    const audience = audiences[place - scopes.length] ?? { sourceId: '', trait: '' };
    return memberRecord(names.audiences, audience, { userId, isMember: false }, {});
  }
  const earlier = (users.deleted(scope, userId)?.requests ?? []).filter((request) => request.id !== id);
  const partition = partitioner.partitionOf(userId);
  const offset = ends[partition];
  const at = new Date(now).toISOString();
  const deletion = { id, at, ...(offset !== undefined && { before: { partition, offset } }) };
  const requests = [...earlier, deletion].slice(-maxRequests);
  return encodeDeleted(names.suppressions, { kind: 'deleted', userId, scope, requests });
}

/** The record after the deletion by one request was lifted: a tombstone where no other request covers the user. */
export function liftedRecord(topic: string, user: DeletedUser, requestId: string): OutgoingRecord {
  const requests = user.requests.filter(({ id }) => id !== requestId);
  if (requests.length > 0) return encodeDeleted(topic, { ...user, requests });
  return { topic, key: deletedKey(user.scope, user.userId), value: null };
}
