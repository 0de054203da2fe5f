/** The delivery service as processes, on the test's own topics, with its input and output. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { applyConfiguration, type Destination } from '@tailrace/config';
import { connectKafka, type ConsumedRecord, type Kafka, type Publisher } from '@tailrace/kafka';
import { freePort } from '@tailrace/local';
import {
  decodeDelivery,
  deliveryKey,
  encodeDelivery,
  formatDuration,
  type AttemptRecord,
  type Delivery,
  type TopicNames,
} from '@tailrace/topics';
import { sharedBroker } from '../kafka/broker.ts';
import { startService, type Environment, type ServiceProcess } from './process.ts';
import { createTopics, headerOf, uniquePrefix, watchTopic, type WatchedTopic } from '../kafka/topics.ts';

const silent = (): void => undefined;
const quiet = { debug: silent, info: silent, warn: silent, error: silent };

/** The limit for tests that wait for a retry or for the group to notice a killed member. */
export const patientMs = 40_000;

export interface DeliveryStageOptions {
  readonly partitions?: number;
  readonly scheduleMs: readonly number[];
  /** The log of every replica. */
  readonly env?: Environment;
}

export interface Replica extends ServiceProcess {
  readonly metricsUrl: string;
}

export interface DeliveryStage extends AsyncDisposable {
  readonly kafka: Kafka;
  readonly names: TopicNames;
  readonly publisher: Publisher;
  startReplica(env?: Environment): Promise<Replica>;
  watch(topic: string): Promise<WatchedTopic>;
  /** Writes destinations to the configuration, without waiting until they are in force. */
  configure(...destinations: readonly Destination[]): Promise<void>;
  /** Writes a delivery to a topic; default `deliveries`. */
  publish(delivery: Delivery, topic?: string): Promise<void>;
  /** The records of the delivery in a topic, when there are `count` of them. */
  recordsOf(topic: string, delivery: Delivery, count?: number): Promise<readonly ConsumedRecord[]>;
  recordOf(topic: string, delivery: Delivery): Promise<ConsumedRecord>;
  deadLetterOf(delivery: Delivery): Promise<Delivery>;
  /** The records of the delivery's attempts in order, when one has `outcome`. */
  attemptsOf(delivery: Delivery, outcome: AttemptRecord['outcome']): Promise<readonly AttemptRecord[]>;
}

/** Topics without a running replica. Loopback is allowed, and the retry window is a minute. */
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

  const watch: DeliveryStage['watch'] = (topic) => {
    const watching = watched.get(topic) ?? watchTopic(kafka, topic);
    watched.set(topic, watching);
    return watching;
  };
  const recordsOf: DeliveryStage['recordsOf'] = async (topic, { deliveryId }, count = 1) => {
    const isOf = (record: ConsumedRecord): boolean => headerOf(record, 'delivery-id') === deliveryId;
    const records = await watch(topic);
    const found = await records.waitFor((items) => items.filter(isOf).length >= count);
    return found.filter(isOf);
  };
  const recordOf: DeliveryStage['recordOf'] = async (topic, delivery) => {
    const [record] = await recordsOf(topic, delivery);
    assert.ok(record);
    return record;
  };

  return {
    kafka,
    names,
    publisher,
    async startReplica(more = {}) {
      const metricsPort = await freePort();
      const service = await startService('delivery', {
        KAFKA_BROKERS: brokers.join(','),
        TAILRACE_TOPIC_PREFIX: prefix,
        TAILRACE_METRICS_PORT: String(metricsPort),
        TAILRACE_RETRY_SCHEDULE: scheduleMs.map(formatDuration).join(','),
        TAILRACE_RETRY_WINDOW: '1m',
        // A receiver in the process of a busy test may take seconds to answer, which is no failure.
        TAILRACE_DELIVERY_TIMEOUT: '1m',
        TAILRACE_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
        ...env,
        ...more,
      });
      all.use(service);
      return Object.defineProperty(service as Replica, 'metricsUrl', {
        value: `http://127.0.0.1:${metricsPort}`,
      });
    },
    watch,
    async configure(...destinations) {
      await applyConfiguration(kafka, names.config, { sources: [], destinations });
    },
    publish: (delivery, topic = names.deliveries) => publisher.publish(encodeDelivery(topic, delivery)),
    recordsOf,
    recordOf,
    async deadLetterOf(delivery) {
      const letter = decodeDelivery(await recordOf(names.deliveriesDead, delivery));
      if (typeof letter === 'string') assert.fail(letter);
      return letter;
    },
    async attemptsOf({ deliveryId }, outcome) {
      const ofDelivery = (records: readonly ConsumedRecord[]): AttemptRecord[] =>
        records.map(attemptIn).filter((attempt) => attempt.deliveryId === deliveryId);
      const attempts = await watch(names.attempts);
      const isOver = (records: readonly ConsumedRecord[]): boolean =>
        ofDelivery(records).some((attempt) => attempt.outcome === outcome);
      return ofDelivery(await attempts.waitFor(isOver));
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

export function attemptIn({ value }: ConsumedRecord): AttemptRecord {
  return JSON.parse(value?.toString() ?? 'null') as AttemptRecord;
}

/** A unique destination with these URLs. */
export function destinationOf(urls: readonly string[], more: Partial<Destination> = {}): Destination {
  const webhooks = urls.map((url) => ({ url }));
  const id = `d-${randomUUID()}`;
  return { id, type: 'Webhooks', enabled: true, sources: [], settings: { webhooks }, ...more };
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
