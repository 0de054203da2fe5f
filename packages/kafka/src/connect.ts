/**
 * The door to Kafka, and to this package: settings in, a handle out from which producers, consumers, followers
 * and administration are opened. It is the only file that makes clients of the library.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { TailraceError } from '@tailrace/errors';
import type { ConsumerConfig, KafkaConfig, PartitionerArgs } from 'kafkajs';
import { openAdministration } from './administration.ts';
import { coPartitionedAssigners } from './assigner.ts';
import { startConsumption, type Consumption, type ConsumeOptions } from './consumption.ts';
import {
  openExclusivePublisher,
  type ExclusivePublisher,
  type ExclusivePublisherOptions,
} from './publish/exclusive-publisher.ts';
import { kafkaFailure } from './failure.ts';
import {
  followerMaxWaitMs,
  followerSessionTimeoutMs,
  startFollower,
  type Follower,
  type FollowOptions,
} from './follower.ts';
import {
  inspectCluster,
  inspectDurability,
  inspectGroup,
  type ClusterReport,
  type GroupReport,
  type TopicDurability,
} from './inspect.ts';
import { bridgeLog, type KafkaLog } from './log.ts';
import { topicOffsetsSince } from './offsets.ts';
import { heartbeatIntervalMs, maxWaitMs, type Pacing } from './pacing.ts';
import { createTopicLayouts } from './publish/layouts.ts';
import { partitionOfKey } from './publish/murmur2.ts';
import { BatchingPublisher, type Publisher, type PublisherOptions } from './publish/publisher.ts';
import { startScan, type Scan, type ScanOptions } from './scan.ts';
import { startTail, type Tail, type TailOptions } from './tail.ts';
import {
  addPartitions,
  describeTopics,
  ensureTopics,
  inspectTopics,
  type TopicDescription,
  type TopicReport,
  type TopicSpec,
} from './topics.ts';
import { createUnreadableReporter, type UnreadableBatch } from './unreadable.ts';
import kafkajs, { askedAtEachFetch } from './wire/library.ts';

export interface KafkaSettings {
  /** `host:port` of the bootstrap servers. */
  readonly brokers: readonly string[];
  /** Names this process in the brokers' logs, metrics and quotas. */
  readonly clientId: string;
  readonly sasl?:
    | {
        readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
        readonly username: string;
        readonly password: string;
      }
    | undefined;
  /** TLS to the brokers; `ca` is PEM, beside the system's own authorities where absent. */
  readonly ssl?: { readonly ca?: string | undefined } | undefined;
}

/**
 * Everything opened through it is closed by `close()`. All methods throw TailraceError `kafka-unavailable` or
 * `kafka-refused-credentials` where Kafka cannot be used, unless they say that they wait.
 */
export interface Kafka {
  /** An idempotent, acks=all producer; it connects when something is published, and waits for brokers. */
  publisher(options?: PublisherOptions): Publisher;
  /** Resolves once every earlier holder of `id` is shut out, and what it left unfinished is decided. */
  exclusivePublisher(id: string, options?: ExclusivePublisherOptions): Promise<ExclusivePublisher>;
  /**
   * The partition of each key in the topic, as the topic is now: where the publisher would put it, and every
   * other producer with Kafka's usual partitioner.
   */
  partitioner(topic: string): Promise<Partitioner>;
  /** Resolves once it has joined the group; waits for brokers. */
  consume(options: ConsumeOptions): Promise<Consumption>;
  /** Resolves once the topic is read to its end. */
  follow(options: FollowOptions): Promise<Follower>;
  /** Resolves once it has joined its group; fetching begins at once. Waits for nothing but that. */
  tail(options: TailOptions): Promise<Tail>;
  /** Resolves once it is known how far the scan will go; fetching begins at once. */
  scan(options: ScanOptions): Promise<Scan>;
  ensureTopics(specs: readonly TopicSpec[]): Promise<TopicReport[]>;
  /** The same without creating anything. */
  inspectTopics(specs: readonly TopicSpec[]): Promise<TopicReport[]>;
  /** Those that exist, as they are now. */
  describeTopics(names: readonly string[]): Promise<ReadonlyMap<string, TopicDescription>>;
  /** Resolves when the topic has at least `count` partitions, each with a leader. Partitions are never removed. */
  addPartitions(topic: string, count: number): Promise<void>;
  /** Of those that exist: what an acknowledgement vouches for. */
  inspectDurability(names: readonly string[]): Promise<ReadonlyMap<string, TopicDurability>>;
  listTopics(): Promise<string[]>;
  /** Tells this cluster from every other, also from one that was made anew at the same address. */
  clusterId(): Promise<string>;
  inspectCluster(): Promise<ClusterReport>;
  /** Who is in a group of consumers, and how far it is behind in topics that exist. */
  inspectGroup(groupId: string, topics: readonly string[]): Promise<GroupReport>;
  /** For each partition the first offset whose record is of this time (milliseconds since the epoch) or later, else its end. */
  offsetsAt(topic: string, time: number): Promise<ReadonlyMap<number, number>>;
  /** Resolves where a broker answers within `timeoutMs` (default 5 s). */
  ping(options?: { timeoutMs?: number }): Promise<void>;
  close(): Promise<void>;
}

export interface Partitioner {
  /** How many partitions the topic has. */
  readonly partitions: number;
  readonly partitionOf: (key: string) => number;
}

/**
 * The library's own retries of one request: they reuse its sequence numbers, so a repeat is recognised. They
 * cover a leader that moves; a longer absence is ours to wait for.
 */
const retry = { initialRetryTime: 50, maxRetryTime: 1_000, retries: 5 };
/** Consumers are started again by session.ts, which knows whether they should be. */
const consumerRetry = { ...retry, restartOnFailure: () => Promise.resolve(false) };
/** How long the partitions of a member that was killed wait for a new owner. */
const sessionTimeoutMs = 10_000;
/** How soon a partition that was added, or has a leader again, is seen where nothing fails. */
const metadataMaxAge = 15_000;
/** As Kafka stores it. What is fetched at once is decoded in one go, and copied several times on the way. */
const fetchBytes = { perPartition: 128 * 1024, total: 8 * 1024 * 1024 };
const defaultTransactionTimeoutMs = 30_000;

/** The part of the client library's `Kafka` class that this package uses. `testing/` has an in-memory implementation. */
export type LibraryClient = Pick<InstanceType<typeof kafkajs.Kafka>, 'producer' | 'consumer' | 'admin'>;

/** @param onUnreadable called for each batch that a reader skips because it cannot be read */
export function connectKafka(
  settings: KafkaSettings,
  log: KafkaLog,
  onUnreadable?: (batch: UnreadableBatch) => void,
): Kafka {
  return openKafka(new kafkajs.Kafka(clientConfig(settings, log)), settings, log, onUnreadable);
}

/** As `connectKafka`, on a given client. */
export function openKafka(
  client: LibraryClient,
  settings: Pick<KafkaSettings, 'brokers'>,
  log: KafkaLog,
  onUnreadable?: (batch: UnreadableBatch) => void,
): Kafka {
  const classify = (error: unknown): unknown => kafkaFailure(error, settings.brokers);
  const reportUnreadable = createUnreadableReporter(log, onUnreadable);
  const opened = new Set<{ close(): Promise<void> }>();
  const administration = openAdministration(() => client.admin({ retry }), classify);
  const { admin, administer } = administration;
  // One of its own: what it asks about one topic makes the library forget all others for a moment.
  const metadata = openAdministration(() => client.admin({ retry }), classify);
  const layouts = createTopicLayouts(metadata.administer);
  const remember = <T extends { close(): Promise<void> }>(resource: T): T => {
    opened.add(resource);
    return resource;
  };

  /** Consumers that read whole topics, each in a group of its own. */
  const readAlone = (fetching: Partial<ConsumerConfig>) => (groupId: string) =>
    client.consumer({
      metadataMaxAge,
      ...fetching,
      groupId,
      sessionTimeout: followerSessionTimeoutMs,
      heartbeatInterval: followerSessionTimeoutMs / 4,
      allowAutoTopicCreation: false,
      retry: consumerRetry,
    });

  const openScan = async (options: ScanOptions): Promise<Scan> => {
    const createConsumer = readAlone({
      maxWaitTimeInMs: maxWaitMs,
      maxBytesPerPartition: fetchBytes.perPartition,
      maxBytes: fetchBytes.total,
    });
    const connected = await administer((admin) => Promise.resolve(admin));
    return startScan({ createConsumer, admin: connected, classify, log, reportUnreadable }, options);
  };

  return {
    publisher(options) {
      const createProducer = () =>
        client.producer({
          idempotent: true,
          maxInFlightRequests: 1,
          allowAutoTopicCreation: false,
          metadataMaxAge,
          createPartitioner: namedPartition,
          retry,
        });
      return remember(new BatchingPublisher({ createProducer, layouts, classify, log }, options));
    },

    async exclusivePublisher(id, { transactionTimeoutMs = defaultTransactionTimeoutMs } = {}) {
      const producer = client.producer({
        transactionalId: id,
        transactionTimeout: transactionTimeoutMs,
        maxInFlightRequests: 1,
        allowAutoTopicCreation: false,
        metadataMaxAge,
        createPartitioner: namedPartition,
        retry,
      });
      return remember(await openExclusivePublisher(producer, classify));
    },

    async partitioner(topic) {
      const { leaders } = await layouts.renew(topic);
      return { partitions: leaders.length, partitionOf: (key) => partitionOfKey(key, leaders.length) };
    },

    async consume(options) {
      const owned = new Set<number>();
      const pacing: Pacing = { waitMs: () => maxWaitMs };
      const consumer = client.consumer({
        groupId: options.groupId,
        sessionTimeout: sessionTimeoutMs,
        heartbeatInterval: heartbeatIntervalMs,
        maxWaitTimeInMs: askedAtEachFetch(() => pacing.waitMs()),
        maxBytesPerPartition: fetchBytes.perPartition,
        maxBytes: fetchBytes.total,
        allowAutoTopicCreation: false,
        metadataMaxAge,
        retry: consumerRetry,
        partitionAssigners: options.coPartitioned
          ? coPartitionedAssigners(() => [...owned])
          : [kafkajs.PartitionAssigners.roundRobin],
      });
      return remember(
        await startConsumption(
          {
            consumer,
            admin: await patiently(admin, classify, log),
            classify,
            log,
            reportUnreadable,
            owned,
            openScan,
            pacing,
          },
          options,
        ),
      );
    },

    async follow(options) {
      const createConsumer = readAlone({ maxWaitTimeInMs: followerMaxWaitMs });
      const connected = await administer((admin) => Promise.resolve(admin));
      return remember(
        await startFollower({ createConsumer, admin: connected, classify, log, reportUnreadable }, options),
      );
    },

    async tail(options) {
      const createConsumer = readAlone({
        maxWaitTimeInMs: followerMaxWaitMs,
        maxBytesPerPartition: fetchBytes.perPartition,
        maxBytes: fetchBytes.total,
      });
      const connected = await administer((admin) => Promise.resolve(admin));
      return remember(
        await startTail({ createConsumer, admin: connected, classify, log, reportUnreadable }, options),
      );
    },

    scan: async (options) => remember(await openScan(options)),

    ensureTopics: (specs) => administer((admin) => ensureTopics(admin, specs)),
    inspectTopics: (specs) => administer((admin) => inspectTopics(admin, specs)),
    describeTopics: (names) => administer((admin) => describeTopics(admin, names)),
    addPartitions: (topic, count) => administer((admin) => addPartitions(admin, topic, count)),
    inspectDurability: (names) => administer((admin) => inspectDurability(admin, names)),
    inspectCluster: () => administer(inspectCluster),
    inspectGroup: (groupId, topics) => administer((admin) => inspectGroup(admin, groupId, topics)),
    listTopics: () => administer((admin) => admin.listTopics()),
    clusterId: () => administer(async (admin) => (await admin.describeCluster()).clusterId),
    async offsetsAt(topic, time) {
      const found = await administer((admin) => topicOffsetsSince(admin, topic, time));
      return new Map(found.map(({ partition, offset }) => [partition, Number(offset)]));
    },

    async ping({ timeoutMs = 5_000 } = {}) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => {
          reject(
            new TailraceError(
              'kafka-unavailable',
              `Kafka at ${settings.brokers.join(', ')} did not answer within ${timeoutMs} ms. ` +
                'Check KAFKA_BROKERS, KAFKA_SSL and that the brokers run.',
            ),
          );
        }, timeoutMs);
      });
      try {
        await Promise.race([administer((admin) => admin.describeCluster()), late]);
      } finally {
        clearTimeout(timer);
      }
    },

    async close() {
      for (const resource of opened) await resource.close();
      opened.clear();
      await Promise.all([administration.close(), metadata.close()]);
    },
  };
}

/** Whatever is published names its partition, which stays the same when its request is repeated. */
const namedPartition =
  () =>
  ({ message }: PartitionerArgs) =>
    message.partition ?? 0;

function clientConfig({ brokers, clientId, sasl, ssl }: KafkaSettings, log: KafkaLog): KafkaConfig {
  return {
    clientId,
    brokers: [...brokers],
    logCreator: bridgeLog(log),
    connectionTimeout: 3_000,
    authenticationTimeout: 5_000,
    requestTimeout: 10_000,
    retry,
    // The library keeps things of its own in it.
    ...(sasl && { sasl: { ...sasl } as KafkaConfig['sasl'] & object }),
    // Said explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED does not decide.
    ...(ssl && { ssl: { rejectUnauthorized: true, ...(ssl.ca !== undefined && { ca: ssl.ca }) } }),
  };
}

/** Waits for brokers that are not there yet. */
async function patiently<T>(
  connect: () => Promise<T>,
  classify: (error: unknown) => unknown,
  log: KafkaLog,
): Promise<T> {
  for (;;) {
    try {
      return await connect();
    } catch (error) {
      const failure = classify(error);
      if (!(failure instanceof TailraceError)) throw failure;
      log.warn({ err: failure }, 'Kafka cannot be reached yet; trying again');
      await wait(1_000);
    }
  }
}
