/** Whether a delivery belongs to a deleted user, and must not be sent any more. */
import { userKeyOf, type DeletedUsers, type Delivery } from '@tailrace/topics';

/**
 * Events that were accepted before the deletion are not sent. `delete` events always are: the receivers have to learn of the deletion.
 *
 * @param writtenAt the time of the record, in milliseconds since the epoch
 */
export function isOfDeletedUser(delivery: Delivery, writtenAt: number, deleted: DeletedUsers): boolean {
  const { type, sourceId, body, acceptedAt = writtenAt, eventAcceptedAt, replayedFrom } = delivery;
  // A dead letter of a deleted user has no body. It stays unsent where the deletion was lifted and the dead letter is replayed.
  if (body.length === 0) return true;
  if (deleted.deletions === 0 || type === 'delete') return false;
  const userKey = userKeyOf(delivery);
  const until = deleted.deletedUntil(sourceId, userKey);
  if (until === undefined) return false;
  // A release before this one replays without the time of the event. Her events must not return that way.
  const isOld = replayedFrom !== undefined && eventAcceptedAt === undefined;
  return (isOld || (eventAcceptedAt ?? acceptedAt) <= until) && userIdOf(body) === userKey;
}

/** The id of the user in the body. The key alone may be an anonymousId. Called for deleted users only, because it parses the body. */
function userIdOf(body: Buffer): unknown {
  try {
    const call = JSON.parse(body.toString()) as Readonly<Record<string, unknown>> | null;
    // An alias has its ids under keys of its own.
    return call?.['userId'] ?? call?.['User ID'];
  } catch {
    return undefined;
  }
}
