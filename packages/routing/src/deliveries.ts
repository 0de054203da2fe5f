/** The deliveries of one event: one for each of its destinations, with the same body where those have no `fields`. */
import type { Destination } from '@tailrace/config';
import { deliveryId, userKey, type TailraceEvent } from '@tailrace/events';
import { deliveryKey, formatPosition, type Delivery, type RecordPosition } from '@tailrace/records';
import { bodyFor, encodeBody } from './body.ts';

/** Where an event comes from. */
export interface EventOrigin {
  readonly sourceId: string;
  /** In `events`. */
  readonly position: RecordPosition;
  /** See content.ts. */
  readonly contentHash: string;
  /** See accepted-at.ts. */
  readonly acceptedAt: number;
  /** That of the span of the routing where there is one; otherwise the one of the record. */
  readonly traceparent: string | undefined;
}

export function deliveriesOf(
  event: TailraceEvent,
  { sourceId, position, contentHash, acceptedAt, traceparent }: EventOrigin,
  destinations: readonly Destination[],
): Delivery[] {
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
  /** By content type, the body for destinations without `fields`. */
  const shared = new Map<string, Buffer>();
  const bodyOf = (destination: Destination): Buffer => {
    const { fields, settings } = destination;
    const encoded = (): Buffer => encodeBody(bodyFor(event, destination), settings);
    if (fields) return encoded();
    const type = settings.contentType ?? 'json';
    let body = shared.get(type);
    if (!body) shared.set(type, (body = encoded()));
    return body;
  };
  return destinations.map((destination): Delivery => {
    const { id: destinationId, settings } = destination;
    return {
      ...common,
      destinationId,
      deliveryId: deliveryId(sourceId, event.messageId, contentHash, destinationId),
      key: deliveryKey(destinationId, user),
      ...(settings.contentType === 'form' && { contentType: 'form' }),
      body: bodyOf(destination),
    };
  });
}
