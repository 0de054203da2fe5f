/** The deliverer on an in-memory Kafka cluster, with a fake sender, wired as in main.ts. */
import assert from 'node:assert/strict';
import { applyConfiguration, type Destination } from '@tailrace/config';
import type { Consumption, ConsumedRecord, Kafka, Publisher } from '@tailrace/kafka';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { defineService } from '@tailrace/service';
import { startHere } from '@tailrace/service/testing';
import {
  decodeDelivery,
  deliveryKey,
  encodeDelivery,
  formatDuration,
  topicNames,
  topicSpecs,
  type AttemptRecord,
  type Delivery,
} from '@tailrace/topics';
import type { Deliverer } from '../deliver.ts';
import type { LaneLimits, Lanes } from '../isolation/lanes.ts';
import { openDelivery, type DeliveryChanges, type OpenDelivery } from '../open.ts';
import { settings } from '../settings.ts';
import { FakeSender } from './fake-sender.ts';

const prefix = 'test.';
export const names = topicNames(prefix);
export const groupId = `${prefix}delivery`;

export interface StageOptions {
  readonly scheduleMs?: readonly number[];
  readonly windowMs?: number;
  readonly limits?: Partial<LaneLimits>;
  /** By topic, the largest record that Kafka accepts, where it is not the one of the catalogue. */
  readonly maxMessageBytes?: Readonly<Record<string, number>>;
}

/** Options of one replica, in place of those of the stage. */
export interface ReplicaOptions
  extends Pick<StageOptions, 'scheduleMs' | 'windowMs'>, Pick<DeliveryChanges, 'now' | 'pauseMs'> {}

/** Topics of one partition, a configuration, and any number of replicas. */
export class Stage implements AsyncDisposable {
  readonly cluster = new MemoryCluster();
  readonly kafka: Kafka = this.cluster.connect();
  /** The lines of all replicas. */
  readonly log: Readonly<Record<string, unknown>>[] = [];
  readonly #options: Required<StageOptions>;
  readonly #publisher: Publisher = this.kafka.publisher();
  readonly #replicas: Replica[] = [];

  constructor({
    scheduleMs = [20, 40],
    windowMs = 60_000,
    limits = {},
    maxMessageBytes = {},
  }: StageOptions = {}) {
    this.#options = { scheduleMs, windowMs, limits, maxMessageBytes };
    for (const { name, config } of topicSpecs(names, { partitions: 1, retryScheduleMs: scheduleMs })) {
      const bytes = maxMessageBytes[name];
      const changed = bytes === undefined ? config : { ...config, 'max.message.bytes': String(bytes) };
      this.cluster.createTopic(name, { config: changed });
    }
  }

  /** Starts a replica, with a retry policy and a clock of its own where they are given. */
  async startReplica(own: ReplicaOptions = {}): Promise<Replica> {
    const options = { ...this.#options, ...own };
    const replica = await openReplica(this.cluster, options, (line) => this.log.push(line));
    this.#replicas.push(replica);
    return replica;
  }

  /** Resolves when all replicas have the configuration. */
  async configure(...destinations: readonly Destination[]): Promise<void> {
    await applyConfiguration(this.kafka, names.config, { sources: [], destinations });
    await Promise.all(this.#replicas.map((replica) => replica.refresh()));
  }

  /** Writes deliveries to a topic, in this order; default `deliveries`. */
  async publish(deliveries: Delivery | readonly Delivery[], topic = names.deliveries): Promise<void> {
    const records = [deliveries].flat().map((delivery) => encodeDelivery(topic, delivery));
    await Promise.all(records.map((record) => this.#publisher.publish(record)));
  }

  /** The records of a topic, when there are `count` of them. */
  async records(topic: string, count = 1): Promise<readonly ConsumedRecord[]> {
    await this.cluster.until(() => this.cluster.records(topic).length >= count);
    return this.cluster.records(topic);
  }

  /** The deliveries in a topic, when there are `count` of them. */
  async deliveries(topic: string, count = 1): Promise<readonly Delivery[]> {
    return (await this.records(topic, count)).map((record) => {
      const delivery = decodeDelivery(record);
      if (typeof delivery === 'string') assert.fail(delivery);
      return delivery;
    });
  }

  /** The first delivery in a topic. */
  async delivery(topic: string): Promise<Delivery> {
    const [delivery] = await this.deliveries(topic);
    assert.ok(delivery);
    return delivery;
  }

  async deadLetter(): Promise<Delivery> {
    return this.delivery(names.deliveriesDead);
  }

  /** The records of attempts, when there are `count` of them. */
  async attempts(count = 1): Promise<readonly AttemptRecord[]> {
    const records = await this.records(names.attempts, count);
    return records.map(({ value }) => JSON.parse(String(value)) as AttemptRecord);
  }

  /** The committed offset of a topic; 0 where there is none. */
  committed(topic = names.deliveries): number {
    return this.cluster.group(groupId).offsets.get(`${topic}/0`)?.offset ?? 0;
  }

  /** Resolves when the committed offset of a topic is at least `offset`. */
  async untilCommitted(offset: number, topic = names.deliveries): Promise<void> {
    await this.cluster.until(() => this.committed(topic) >= offset);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cluster.resumeAcknowledgements();
    this.cluster.start();
    for (const replica of this.#replicas) {
      replica.sender.release();
      await replica.stop();
    }
    await this.kafka.close();
  }
}

export interface Replica {
  readonly sender: FakeSender;
  readonly lanes: Lanes;
  readonly deliverer: Deliverer;
  readonly consumption: Consumption;
  /** Resolves when it has the present configuration. */
  refresh(): Promise<void>;
  /** Finishes what is in flight, and leaves the group. */
  stop(): Promise<void>;
}

async function openReplica(
  cluster: MemoryCluster,
  { scheduleMs, windowMs, limits, now, pauseMs }: Required<StageOptions> & ReplicaOptions,
  onLine: (line: Readonly<Record<string, unknown>>) => void,
): Promise<Replica> {
  const sender = new FakeSender();
  const parts = Promise.withResolvers<OpenDelivery>();
  const service = await startHere(
    defineService({
      name: 'delivery',
      settings,
      open: async (service) => {
        const changes = {
          sender,
          limits,
          commitIntervalMs: 5,
          ...(now && { now }),
          ...(pauseMs && { pauseMs }),
        };
        parts.resolve(await openDelivery(service, changes));
        return {};
      },
    }),
    {
      KAFKA_BROKERS: 'memory:9092',
      TAILRACE_TOPIC_PREFIX: prefix,
      TAILRACE_RETRY_SCHEDULE: scheduleMs.map(formatDuration).join(','),
      TAILRACE_RETRY_WINDOW: formatDuration(windowMs),
    },
    { connect: (_config, log, observer) => cluster.connect(log, observer), onLine },
  );
  const { lanes, deliverer, consumption, config } = await parts.promise;
  let isStopping = false;
  return {
    sender,
    lanes,
    deliverer,
    consumption,
    refresh: () => (isStopping ? Promise.resolve() : config.refresh()),
    stop() {
      isStopping = true;
      return service.stop();
    },
  };
}

export function destinationOf(id: string, more: Partial<Destination> = {}): Destination {
  const webhooks = [{ url: `https://${id}.example.com/hook` }];
  return { id, type: 'Webhooks', enabled: true, sources: [], settings: { webhooks }, ...more };
}

let deliveries = 0;

export function newDelivery(destinationId: string, more: Partial<Delivery> = {}): Delivery {
  const nth = (deliveries += 1);
  return {
    deliveryId: `delivery-${nth}`,
    eventId: `event-${nth}`,
    sourceId: 'web',
    destinationId,
    type: 'track',
    attempt: 0,
    step: more.attempt ?? 0,
    deferrals: 0,
    closedUrls: [],
    key: deliveryKey(destinationId, 'ada'),
    body: Buffer.from(JSON.stringify({ version: 1, type: 'track', event: `event-${nth}` })),
    ...more,
  };
}
