/**
 * The deliveries of one event: one for each of its destinations, with one body for all that get the same. That for a transform is JSON: what
 * it makes is written as the content type says.
 */
import type { Destination } from '@tailrace/config';
import { deliveryId, userKey, type TailraceEvent } from '@tailrace/events';
import { deliveryKey, formatPosition, type Delivery, type RecordPosition } from '@tailrace/records';
import { bodyFor, bodyKey, encodeBody } from './body.ts';

/** Where an event comes from. */
export interface EventOrigin {
  readonly sourceId: string;
  /** In `events`; undefined for an event of another topic. */
  readonly position: RecordPosition | undefined;
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
    eventPosition: position && formatPosition(position),
    acceptedAt,
    attempt: 0,
    step: 0,
    deferrals: 0,
    closedUrls: [],
    traceparent,
  };
  const user = userKey(event);
  const bodies = new Map<string, Buffer>();
  const bodyOf = (destination: Destination): Buffer => {
    const key = bodyKey(destination);
    let body = bodies.get(key);
    if (!body) bodies.set(key, (body = encodeBody(bodyFor(event, destination), written(destination))));
    return body;
  };
  return destinations.map((destination): Delivery => {
    const { id: destinationId } = destination;
    return {
      ...common,
      destinationId,
      deliveryId: deliveryId(sourceId, event.messageId, contentHash, destinationId),
      key: deliveryKey(destinationId, user),
      ...(written(destination).contentType === 'form' && { contentType: 'form' }),
      body: bodyOf(destination),
    };
  });
}

function written({ transform, settings }: Destination): Pick<Destination['settings'], 'contentType'> {
  return transform ? {} : settings;
}
