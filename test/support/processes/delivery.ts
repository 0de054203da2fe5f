/** The delivery service on the test's own topics, as a process or in the process of the test, with its input and output. */
import { randomUUID } from 'node:crypto';
import { applyConfiguration, type Destination } from '@tailrace/config';
import { connectKafka, type Kafka, type Publisher } from '@tailrace/kafka';
import { startHere, type HereOptions } from '@tailrace/service/testing';
import { formatDuration } from '@tailrace/events';
import { deliveryKey, encodeDelivery, type Delivery } from '@tailrace/records';
import type { TopicNames } from '@tailrace/topology';
import { delivery } from '../../../services/delivery/src/open.ts';
import { sharedBroker } from '../kafka/broker.ts';
import { createTopics, uniquePrefix, watchTopic, type WatchedTopic } from '../kafka/topics.ts';
import { startService, type Environment, type ServiceProcess } from './process.ts';

const silent = (): void => undefined;
const quiet = { debug: silent, info: silent, warn: silent, error: silent };

export interface DeliveryStageOptions {
  readonly partitions?: number;
  readonly scheduleMs: readonly number[];
  readonly env?: Environment;
}

export interface DeliveryStage extends AsyncDisposable {
  readonly kafka: Kafka;
  readonly names: TopicNames;
  readonly publisher: Publisher;
  /** Starts a replica in this process, which ends with the stage. */
  startHere(options?: Pick<HereOptions, 'onLine'>): Promise<void>;
  /** Starts a replica as a process. */
  startProcess(env?: Environment): Promise<ServiceProcess>;
  watch(topic: string): Promise<WatchedTopic>;
  /** Writes destinations to the configuration, without waiting until they are in force. */
  configure(...destinations: readonly Destination[]): Promise<void>;
  /** Writes deliveries to a topic, default `deliveries`. The order within each partition is kept. */
  publish(deliveries: readonly Delivery[], topic?: string): Promise<void>;
}

/**
 * Topics without a running replica. Loopback is allowed, and requests time out after a minute, because a receiver in the
 * process of a busy test may take seconds to answer, which is no failure.
 */
export async function openDeliveryStage({
  partitions = 2,
  scheduleMs,
  env = {},
}: DeliveryStageOptions): Promise<DeliveryStage> {
  await using opened = new AsyncDisposableStack();
  const { brokers } = await sharedBroker();
  const kafka = connectKafka({ brokers, clientId: 'delivery-test' }, quiet);
  opened.defer(() => kafka.close());
  const prefix = uniquePrefix();
  const names = await createTopics(kafka, prefix, { partitions, retryScheduleMs: scheduleMs });
  const publisher = kafka.publisher();
  const watched = new Map<string, Promise<WatchedTopic>>();
  const all = opened.move();
  const environment: Environment = {
    KAFKA_BROKERS: brokers.join(','),
    TAILRACE_TOPIC_PREFIX: prefix,
    TAILRACE_METRICS_PORT: '0',
    TAILRACE_RETRY_SCHEDULE: scheduleMs.map(formatDuration).join(','),
    TAILRACE_DELIVERY_TIMEOUT: '1m',
    TAILRACE_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
    ...env,
  };
  return {
    kafka,
    names,
    publisher,
    async startHere(options) {
      const replica = await startHere(delivery, environment, options);
      all.defer(() => replica.stop());
    },
    startProcess: async (more = {}) => all.use(await startService('delivery', { ...environment, ...more })),
    watch(topic) {
      const watching = watched.get(topic) ?? watchTopic(kafka, topic);
      watched.set(topic, watching);
      return watching;
    },
    async configure(...destinations) {
      await applyConfiguration(kafka, names.config, { sources: [], destinations });
    },
    async publish(deliveries, topic = names.deliveries) {
      await Promise.all(deliveries.map((one) => publisher.publish(encodeDelivery(topic, one))));
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** A unique destination with this URL. */
export function destinationOf(url: string, more: Partial<Destination> = {}): Destination {
  const settings = { webhooks: [{ url }], ...more.settings };
  return { id: `d-${randomUUID()}`, type: 'Webhooks', enabled: true, sources: [], ...more, settings };
}

export function newDelivery(destinationId: string, more: Partial<Delivery> = {}): Delivery {
  const eventId = randomUUID();
  return {
    deliveryId: randomUUID(),
    eventId,
    sourceId: 'web',
    destinationId,
    type: 'track',
    attempt: 0,
    step: more.attempt ?? 0,
    deferrals: 0,
    closedUrls: [],
    key: deliveryKey(destinationId, 'ada'),
    body: Buffer.from(JSON.stringify({ version: 1, type: 'track', event: eventId })),
    ...more,
  };
}

/** That many deliveries for each destination, the destinations alternating; each has its own user. */
export function deliveriesFor(destinations: readonly Destination[], each: number): Delivery[] {
  return Array.from({ length: each }, (_, turn) =>
    destinations.map(({ id }) => newDelivery(id, { key: deliveryKey(id, `u-${turn}`) })),
  ).flat();
}
