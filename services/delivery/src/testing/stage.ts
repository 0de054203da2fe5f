/** The service on an in-memory Kafka cluster, with a fake sender, wired by open.ts, on simulated time. */
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { applyConfiguration, type Destination } from '@tailrace/config';
import type { Consumption, ConsumedRecord, Kafka, OutgoingRecord, Publisher } from '@tailrace/kafka';
import { MemoryCluster } from '@tailrace/kafka/testing';
import {
  defineService,
  readSettings,
  type Environment,
  type Metrics,
  type MetricsPages,
} from '@tailrace/service';
import { startHere } from '@tailrace/service/testing';
import { simulateTime } from '@tailrace/testing';
import { formatDuration } from '@tailrace/events';
import {
  decodeDelivery,
  deliveryKey,
  encodeDelivery,
  type AttemptRecord,
  type Delivery,
} from '@tailrace/records';
import { topicNames, topicSpecs } from '@tailrace/topology';
import type { LaneLimits, Lanes } from '../stages/lane/lanes.ts';
import { openDelivery, type DeliveryChanges, type OpenDelivery } from '../open.ts';
import { settings } from '../settings.ts';
import { FakeSender } from './fake-sender.ts';

const prefix = 'test.';
const required = { KAFKA_BROKERS: 'memory:9092', TAILRACE_TOPIC_PREFIX: prefix };
const defaults = readSettings(required, settings);
export const names = topicNames(prefix);
export const groupId = `${prefix}delivery`;

export interface StageOptions {
  /** Default: that of the settings. */
  readonly scheduleMs?: readonly number[];
  /** Default: that of the settings. */
  readonly windowMs?: number;
  readonly limits?: Partial<LaneLimits>;
  readonly partitions?: number;
  /** By topic, the largest record that Kafka accepts, where it is not the one of the catalogue. */
  readonly maxMessageBytes?: Readonly<Record<string, number>>;
}

/** Options of one replica, in place of those of the stage. */
export interface ReplicaOptions
  extends Pick<StageOptions, 'scheduleMs' | 'windowMs' | 'limits'>, Pick<DeliveryChanges, 'now'> {
  readonly env?: Environment;
}

/**
 * Topics of one partition by default, a configuration, and any number of replicas. Time is simulated from the creation of a
 * stage to its end: it passes as far as the test waits for something.
 */
export class Stage implements AsyncDisposable {
  readonly time = simulateTime();
  readonly cluster = new MemoryCluster();
  readonly kafka: Kafka = this.cluster.connect();
  /** The lines of all replicas. */
  readonly log: Readonly<Record<string, unknown>>[] = [];
  readonly #options: Required<StageOptions>;
  readonly #publisher: Publisher = this.kafka.publisher();
  readonly #replicas: Replica[] = [];

  constructor({
    scheduleMs = defaults.topics.retryScheduleMs,
    windowMs = defaults.retryWindowMs,
    limits = {},
    partitions = 1,
    maxMessageBytes = {},
  }: StageOptions = {}) {
    this.#options = { scheduleMs, windowMs, limits, partitions, maxMessageBytes };
    for (const { name, config, partitions: count } of topicSpecs(names, {
      partitions,
      retryScheduleMs: scheduleMs,
    })) {
      const bytes = maxMessageBytes[name];
      const changed = bytes === undefined ? config : { ...config, 'max.message.bytes': String(bytes) };
      this.cluster.createTopic(name, { partitions: count, config: changed });
    }
  }

  get partitions(): number {
    return this.#options.partitions;
  }

  /** Starts a replica, with a retry policy, limits and a clock of its own where they are given. */
  async startReplica(own: ReplicaOptions = {}): Promise<Replica> {
    const options = { ...this.#options, ...own };
    const replica = await this.time.settled(openReplica(this, options, (line) => this.log.push(line)));
    this.#replicas.push(replica);
    return replica;
  }

  /** Stops all replicas. */
  async stopReplicas(): Promise<void> {
    for (const replica of this.#replicas.splice(0)) await replica.stop();
  }

  /** Lets time pass until `holds` returns true. */
  until(holds: () => boolean): Promise<void> {
    return this.time.until(holds);
  }

  /** Resolves when all replicas have the configuration. */
  async configure(...destinations: readonly Destination[]): Promise<void> {
    await this.#apply(destinations, false);
  }

  /** Deletes all other destinations. */
  async configureOnly(...destinations: readonly Destination[]): Promise<void> {
    await this.#apply(destinations, true);
  }

  async #apply(destinations: readonly Destination[], prune: boolean): Promise<void> {
    const applied = applyConfiguration(this.kafka, names.config, { sources: [], destinations }, { prune });
    await this.time.settled(applied);
    await this.time.settled(Promise.all(this.#replicas.map((replica) => replica.refresh())));
  }

  /** Writes deliveries to a topic, in this order; default `deliveries`. */
  async publish(deliveries: Delivery | readonly Delivery[], topic = names.deliveries): Promise<void> {
    await this.write(...[deliveries].flat().map((delivery) => encodeDelivery(topic, delivery)));
  }

  /** Resolves when Kafka has acknowledged the records. */
  async write(...records: readonly OutgoingRecord[]): Promise<void> {
    await this.time.settled(Promise.all(records.map((record) => this.#publisher.publish(record))));
  }

  /** The records of a topic, when there are `count` of them. */
  async records(topic: string, count = 1): Promise<readonly ConsumedRecord[]> {
    await this.until(() => this.cluster.records(topic).length >= count);
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

  /** The committed offset of a topic, the sum of its partitions; 0 where there is none. */
  committed(topic = names.deliveries): number {
    const { offsets } = this.cluster.group(groupId);
    const { partitions } = this.cluster.topic(topic);
    return partitions.reduce(
      (sum, { partition }) => sum + (offsets.get(`${topic}/${partition}`)?.offset ?? 0),
      0,
    );
  }

  /** Resolves when the committed offset of a topic is at least `offset`. */
  async untilCommitted(offset: number, topic = names.deliveries): Promise<void> {
    await this.until(() => this.committed(topic) >= offset);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cluster.resumeAcknowledgements();
    this.cluster.resumeWrites();
    this.cluster.resumeOffsetCommits();
    this.cluster.start();
    try {
      for (const { sender } of this.#replicas) sender.release();
      await this.stopReplicas();
      await this.time.settled(this.kafka.close());
    } finally {
      this.time[Symbol.dispose]();
    }
  }
}

export interface Replica {
  readonly sender: FakeSender;
  readonly lanes: Lanes;
  readonly consumption: Consumption;
  /** The series of `/metrics`, or of another page, with their values. */
  series(page?: keyof MetricsPages): Promise<ReadonlyMap<string, number>>;
  /** Resolves when it has the present configuration. */
  refresh(): Promise<void>;
  /** Holds the next look-up of a disabled destination, until the returned function is called. */
  holdLookUp(): () => void;
  /** Finishes what is in flight, and leaves the group. */
  stop(): Promise<void>;
}

async function openReplica(
  { cluster, time }: Stage,
  { scheduleMs, windowMs, limits, now, env }: Required<StageOptions> & ReplicaOptions,
  onLine: (line: Readonly<Record<string, unknown>>) => void,
): Promise<Replica> {
  const sender = new FakeSender((holds) => time.until(holds));
  const opened = Promise.withResolvers<OpenDelivery & { readonly metrics: Metrics }>();
  const service = await startHere(
    defineService({
      name: 'delivery',
      settings,
      open: async (service) => {
        const changes = { sender, limits, ...(now && { now }) };
        opened.resolve({ ...(await openDelivery(service, changes)), metrics: service.metrics });
        return {};
      },
    }),
    {
      ...required,
      TAILRACE_RETRY_SCHEDULE: scheduleMs.map(formatDuration).join(','),
      TAILRACE_RETRY_WINDOW: formatDuration(windowMs),
      ...env,
    },
    { connect: (_config, log, observer) => cluster.connect(log, observer), onLine },
  );
  const { lanes, consumption, config, metrics } = await opened.promise;
  let isStopping = false;
  return {
    sender,
    lanes,
    consumption,
    async series(page) {
      const text = page ? [...metrics.pages[page].lines()].join('') : await metrics.expose();
      return seriesIn(text);
    },
    holdLookUp() {
      const lookUp: PromiseWithResolvers<void> = Promise.withResolvers();
      mock.method(config, 'refresh', () => lookUp.promise, { times: 1 });
      return lookUp.resolve;
    },
    refresh: () => (isStopping ? Promise.resolve() : config.refresh()),
    stop() {
      isStopping = true;
      return time.settled(service.stop());
    },
  };
}

function seriesIn(text: string): Map<string, number> {
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    samples.map((line) => {
      const end = line.lastIndexOf(' ');
      return [line.slice(0, end), Number(line.slice(end))];
    }),
  );
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
