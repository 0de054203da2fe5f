/** The records of `deliveries` for one event: one for each of its destinations, all with the same body. */
import type { Destination } from '@tailrace/config';
import { deliveryId, userKey, webhookBody, type TailraceEvent } from '@tailrace/events';
import type { ConsumedRecord, OutgoingRecord } from '@tailrace/kafka';
import { deliveryKey, encodeDelivery } from '@tailrace/topics';
import { acceptedAt } from './accepted-at.ts';

export interface DeliveryRecord {
  readonly destinationId: string;
  readonly record: OutgoingRecord;
}

/** @param origin the record of `events` that the event was read from */
export function deliveryRecords(
  topic: string,
  event: TailraceEvent,
  sourceId: string,
  destinations: readonly Destination[],
  origin: Pick<ConsumedRecord, 'headers' | 'timestamp'>,
): DeliveryRecord[] {
  if (destinations.length === 0) return [];
  const common = {
    ...{ eventId: event.messageId, sourceId, type: event.type },
    eventName: event.type === 'track' ? event.event : undefined,
    acceptedAt: acceptedAt(Date.parse(event.receivedAt), origin.timestamp, Date.now()),
    ...{ attempt: 0, step: 0, deferrals: 0, closedUrls: [] },
    traceparent: origin.headers['traceparent']?.toString(),
    body: Buffer.from(webhookBody(event)),
  };
  const user = userKey(event);
  return destinations.map(({ id: destinationId }) => ({
    destinationId,
    record: encodeDelivery(topic, {
      ...common,
      destinationId,
      deliveryId: deliveryId(sourceId, event.messageId, destinationId),
      key: deliveryKey(destinationId, user),
    }),
  }));
}
