/** Records of deliveries, attempts, decisions and usage, as the router and delivery write them, for tests. */
import type { Kafka } from '@tailrace/kafka';
import {
  deliveryKey,
  encodeDecision,
  encodeDelivery,
  encodeExchanges,
  exchangesHeader,
  userKeyOf,
  type AttemptRecord,
  type Delivery,
  type FilteredDestinations,
} from '@tailrace/records';
import type { TopicNames } from '@tailrace/topology';

type AttemptChanges = Partial<Omit<AttemptRecord, 'userKey'>>;

export interface Flow {
  /** A delivery of the source `web`, not published yet. */
  delivery(destinationId: string, changes?: Partial<Delivery>): Delivery;
  publish(topic: string, delivery: Delivery): Promise<void>;
  /** Of the user of the delivery. */
  attempt(of: Delivery, outcome: AttemptRecord['outcome'], changes?: AttemptChanges): Promise<void>;
  /** An event that goes to no destination. */
  decision(
    eventId: string,
    filtered: readonly FilteredDestinations[],
    decidedAt?: number,
    sourceId?: string,
  ): Promise<void>;
  usage(sourceId: string, calls: number, blocked?: number): Promise<void>;
}

export function createFlow(kafka: Pick<Kafka, 'publisher'>, names: TopicNames): Flow {
  const publisher = kafka.publisher({});
  let count = 0;
  return {
    delivery(destinationId, changes = {}) {
      count += 1;
      const number = String(count).padStart(12, '0');
      return {
        deliveryId: `00000000-0000-4000-8000-${number}`,
        eventId: `event-${count}`,
        sourceId: 'web',
        destinationId,
        type: 'track',
        eventName: 'Order Completed',
        key: deliveryKey(destinationId, 'ada'),
        acceptedAt: undefined,
        attempt: 0,
        step: 0,
        deferrals: 0,
        placeAt: undefined,
        heldBy: undefined,
        firstAttemptAt: undefined,
        dueAt: undefined,
        reason: undefined,
        closedUrls: [],
        body: Buffer.from(
          `{"type":"track","event":"Order Completed","userId":"ada","messageId":"event-${count}"}`,
        ),
        ...changes,
      };
    },
    async publish(topic, delivery) {
      await publisher.publish(encodeDelivery(topic, delivery));
    },
    async attempt(of, outcome, changes = {}) {
      const { deliveryId, eventId, sourceId, destinationId, type, eventName } = of;
      const record: AttemptRecord = {
        deliveryId,
        eventId,
        sourceId,
        destinationId,
        type,
        event: eventName,
        userKey: userKeyOf(of),
        attempt: of.attempt + 1,
        outcome,
        latencyMs: 20,
        startedAt: new Date().toISOString(),
        urls: [],
        ...changes,
      };
      const value = JSON.stringify({
        ...record,
        urls: record.urls.map(({ exchange: _exchange, ...url }) => url),
      });
      const exchanges = record.urls.map(({ exchange }) => exchange);
      const headers = exchanges.some(Boolean) ? { [exchangesHeader]: encodeExchanges(exchanges) } : {};
      await publisher.publish({ topic: names.attempts, key: deliveryId, value, headers });
    },
    async decision(eventId, filtered, decidedAt = Date.now(), sourceId = 'web') {
      const call = { eventId, sourceId, type: 'track', event: 'Order Completed' };
      const decision = { ...call, decidedAt, routed: 0, filtered };
      await publisher.publish(encodeDecision(names.decisions, 'ada', decision));
    },
    async usage(sourceId, calls, blocked = 0) {
      const day = new Date().toISOString().slice(0, 10);
      const value = JSON.stringify({ sourceId, day, calls: { track: calls }, filtered: blocked, events: [] });
      await publisher.publish({ topic: names.usage, key: sourceId, value });
    },
  };
}
