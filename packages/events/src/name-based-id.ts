/**
 * Ids that are derived from names, so that work that is repeated after a crash has the same ids: UUIDs of version 5 (RFC 9562,
 * section 5.5), SHA-1 over a namespace and a name.
 */
import { hash } from 'node:crypto';

/** The namespace of all ids of Tailrace. The first part of a name distinguishes the kinds. */
const namespace = Buffer.from('0b1f3c5a8d7e4f60a9c2d4e6f8011b3d', 'hex');

/**
 * The id of the delivery of an event to a destination, the same in every attempt, replay and repetition.
 *
 * @param contentHash because any sender may use the messageId of another event
 */
export function deliveryId(
  sourceId: string,
  messageId: string,
  contentHash: string,
  destinationId: string,
): string {
  return nameBasedId('delivery', sourceId, destinationId, contentHash, messageId);
}

/** The id of the new delivery that a replay makes of one that was sent: the same whenever the replay is continued. */
export function replayedDeliveryId(deliveryId: string, replayId: string): string {
  return nameBasedId('replay', replayId, deliveryId);
}

/**
 * The messageId of a record without one, the same whenever the record is read. The time is included, because a topic that is
 * created again starts at offset 0.
 */
export function recordMessageId(record: {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly timestamp: number;
}): string {
  const { topic, partition, offset, timestamp } = record;
  return nameBasedId('record', topic, String(partition), String(offset), String(timestamp));
}

/** NUL separates the parts. Only the last part may be free text. */
function nameBasedId(...parts: readonly string[]): string {
  const name = parts.join('\0');
  const bytes = Buffer.allocUnsafe(namespace.length + Buffer.byteLength(name));
  namespace.copy(bytes);
  bytes.write(name, namespace.length);
  const digest = hash('sha1', bytes, 'hex');
  const variant = ((parseInt(digest.charAt(16), 16) & 0x3) | 0x8).toString(16);
  const [timeLow, timeMid] = [digest.slice(0, 8), digest.slice(8, 12)];
  return `${timeLow}-${timeMid}-5${digest.slice(13, 16)}-${variant}${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
}
