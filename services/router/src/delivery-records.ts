/** The records of `deliveries` for one event: one for each of its destinations, with the same body where those have no `fields`. */
import type { Destination } from '@tailrace/config';
import { deliveryId, userKey, webhookBody, type TailraceEvent } from '@tailrace/events';
import type { OutgoingRecord } from '@tailrace/kafka';
import { bodyFor, encodeBody } from '@tailrace/routing';
import { deliveryKey, encodeDelivery, formatPosition, type RecordPosition } from '@tailrace/records';

export interface DeliveryRecord {
  readonly destinationId: string;
  readonly record: OutgoingRecord;
}

/** Where an event comes from. */
export interface EventOrigin {
  readonly sourceId: string;
  /** In `events`. */
  readonly position: RecordPosition;
  /** See deduplication/content.ts. */
  readonly contentHash: string;
  /** See accepted-at.ts. */
  readonly acceptedAt: number;
  /** That of the span of the routing where there is one; otherwise the one of the record. */
  readonly traceparent: string | undefined;
}

export function deliveryRecords(
  topic: string,
  event: TailraceEvent,
  { sourceId, position, contentHash, acceptedAt, traceparent }: EventOrigin,
  destinations: readonly Destination[],
): DeliveryRecord[] {
  if (destinations.length === 0) return [];
  const common = {
    eventId: event.messageId,
    sourceId,
    type: event.type,
    eventName: event.type === 'track' ? event.event : undefined,
    eventPosition: formatPosition(position),
    acceptedAt,
    attempt: 0,
    step: 0,
    deferrals: 0,
    closedUrls: [],
    traceparent,
  };
  const user = userKey(event);
  let shared: Buffer | undefined;
  return destinations.map((destination) => {
    const { id: destinationId, fields, settings } = destination;
    const isForm = settings.contentType === 'form';
    return {
      destinationId,
      record: encodeDelivery(topic, {
        ...common,
        destinationId,
        deliveryId: deliveryId(sourceId, event.messageId, contentHash, destinationId),
        key: deliveryKey(destinationId, user),
        ...(isForm && { contentType: 'form' }),
        body:
          fields || isForm
            ? encodeBody(bodyFor(event, destination), settings)
            : (shared ??= Buffer.from(webhookBody(event))),
      }),
    };
  });
}
