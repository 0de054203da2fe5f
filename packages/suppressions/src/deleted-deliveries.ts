/** Whether a delivery belongs to a deleted user, and must not be sent any more. */
import { parsePosition, userKeyOf, type Delivery } from '@tailrace/records';
import type { DeletedUsers, Deletion } from './view.ts';

/** Clocks differ by less: those of a wrong time zone, too. */
const farApartMs = 86_400_000;

/**
 * Events that were accepted before the deletion are not sent. `delete` events always are: the receivers have to learn of the deletion.
 *
 * @param writtenAt the time of the record, in milliseconds since the epoch
 * @param userId of the event, where that is at hand
 */
export function isOfDeletedUser(
  delivery: Delivery,
  writtenAt: number,
  deleted: Pick<DeletedUsers, 'deletions' | 'deletionsOf'>,
  userId: () => unknown = () => userIdOf(delivery),
): boolean {
  const { type, sourceId, body } = delivery;
  // A dead letter of a deleted user has no body. It stays unsent where the deletion was lifted and the dead letter is replayed.
  if (body.length === 0) return true;
  if (deleted.deletions === 0 || type === 'delete') return false;
  const userKey = userKeyOf(delivery);
  const deletions = deleted.deletionsOf(sourceId, userKey);
  if (deletions.length === 0 || userId() !== userKey) return false;
  return deletions.some((deletion) => wasAcceptedBefore(delivery, writtenAt, deletion));
}

/**
 * Decided by the order in `events`, because the clocks of control, ingest and direct producers differ. Where the order is not
 * known, by time: in another partition than the one of the user's key, and in records of a release before this one. Where the
 * times are far apart, `events` was created again meanwhile, and its offsets began again.
 */
function wasAcceptedBefore(delivery: Delivery, writtenAt: number, { at, before }: Deletion): boolean {
  const { acceptedAt = writtenAt, eventAcceptedAt, replayedFrom } = delivery;
  // An early release replays without the time of the event. Her events must not return that way.
  const isOld = replayedFrom !== undefined && eventAcceptedAt === undefined;
  const eventAt = eventAcceptedAt ?? acceptedAt;
  const isEarlier = isOld || eventAt <= at;
  const position = parsePosition(delivery.eventPosition);
  if (!position || position.partition !== before?.partition) return isEarlier;
  return Math.abs(eventAt - at) > farApartMs ? isEarlier : position.offset < before.offset;
}

/**
 * The id of the user in the body, because the key alone may be an anonymousId; that of the key where a transform has made the body, which
 * need not have it. Called for deleted users only, because it parses the body.
 */
function userIdOf(delivery: Delivery): unknown {
  const { body, contentType, transformVersion } = delivery;
  if (transformVersion !== undefined) return userKeyOf(delivery);
  try {
    const text = body.toString();
    const json = contentType === 'form' ? new URLSearchParams(text).get('payload') : text;
    const call = JSON.parse(json ?? '') as Readonly<Record<string, unknown>> | null;
    // An alias has its ids under keys of its own.
    return call?.['userId'] ?? call?.['User ID'];
  } catch {
    return undefined;
  }
}
