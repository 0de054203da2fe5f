/** The handle to Kafka from which publishers, consumers, followers, tails, scans and administration are opened. */
import { setTimeout as wait } from 'node:timers/promises';
import { TailraceError } from '@tailrace/errors';
import { openAdministration } from './admin/administration.ts';
import {
  inspectCluster,
  inspectDurability,
  inspectGroup,
  inspectHealth,
  type ClusterReport,
  type GroupReport,
  type TopicDurability,
  type TopicHealth,
} from './admin/inspect.ts';
import { finishedOffsets, topicEnds, topicOffsets, topicOffsetsSince } from './admin/offsets.ts';
import type { Patience } from './admin/patience.ts';
import type { TopicDescription, TopicReport, TopicSpec } from './admin/topic-spec.ts';
import { addPartitions, describeTopics, ensureTopics, inspectTopics, topicSettings } from './admin/topics.ts';
import { createClients, libraryClient, type KafkaSettings, type LibraryClient } from './clients.ts';
import type { Claims } from './consume/assigner.ts';
import { startConsumption, type Consumption } from './consume/consumption.ts';
import type { ConsumeOptions } from './consume/options.ts';
import { maxWaitMs, type Pacing } from './consume/pacing.ts';
import type { OffsetRange } from './consume/partition/progress.ts';
import { kafkaFailure } from './failure.ts';
import type { KafkaLog } from './log.ts';
import type { KafkaObserver } from './observer.ts';
import {
  openExclusivePublisher,
  type ExclusivePublisher,
  type ExclusivePublisherOptions,
} from './publish/exclusive-publisher.ts';
import { createTopicLayouts } from './publish/layouts.ts';
import { partitionOfKey } from './publish/murmur2.ts';
import { BatchingPublisher, type Publisher, type PublisherOptions } from './publish/publisher.ts';
import { Refusals, type KafkaRefusals } from './refusals.ts';
import type { CreateReader, ReaderDependencies } from './read/reader.ts';
import { startFollower, type Follower, type FollowOptions } from './read/follower.ts';
import { startScan, type Scan, type ScanOptions } from './read/scan.ts';
import { startTail, type Tail, type TailOptions } from './read/tail.ts';
import { createUnreadableReporter } from './unreadable.ts';

/**
 * `close()` closes everything that was opened through it. What is opening at that time fails with `shutting-down`, or is closed once it is
 * open. All methods throw TailraceError `kafka-unavailable` or `kafka-refused-credentials` when Kafka cannot be used, unless they are
 * documented to wait.
 */
export interface Kafka {
  /** An idempotent producer with acks=all. It connects with the first record, and waits for brokers. */
  publisher(options?: PublisherOptions): Publisher;
  /** Resolves once every earlier publisher with this `id` is fenced and its open transaction is completed or aborted. */
  exclusivePublisher(id: string, options?: ExclusivePublisherOptions): Promise<ExclusivePublisher>;
  /**
   * Returns the partition of each key in the topic, as the topic is now: the one that the publisher chooses, and every
   * other producer with Kafka's default partitioner.
   */
  partitioner(topic: string): Promise<Partitioner>;
  /** Resolves once the consumer has joined the group. Waits for brokers. */
  consume(options: ConsumeOptions): Promise<Consumption>;
  /** Resolves once the topic is read to its end. */
  follow(options: FollowOptions): Promise<Follower>;
  /** Resolves once the tail has joined its group. Records are delivered from then on. */
  tail(options: TailOptions): Promise<Tail>;
  /** Resolves once the end offsets of the scan are known. */
  scan(options: ScanOptions): Promise<Scan>;
  /**
   * Creates topics that are missing, and resolves when each of their partitions has a leader. Topics that exist are compared
   * and not changed. Waits up to two minutes for a cluster that is slow.
   */
  ensureTopics(specs: readonly TopicSpec[], patience?: Patience): Promise<TopicReport[]>;
  /** As `ensureTopics`, and creates nothing. */
  inspectTopics(specs: readonly TopicSpec[]): Promise<TopicReport[]>;
  /** Topics that do not exist are left out. */
  describeTopics(names: readonly string[]): Promise<ReadonlyMap<string, TopicDescription>>;
  /** Resolves when the topic has at least `count` partitions, each with a leader. Partitions are never removed. */
  addPartitions(topic: string, count: number, patience?: Patience): Promise<void>;
  /** Topics that do not exist are left out. */
  inspectDurability(names: readonly string[]): Promise<ReadonlyMap<string, TopicDurability>>;
  listTopics(): Promise<string[]>;
  /** The replicas that are out of sync, by topic. All topics must exist. */
  inspectHealth(names: readonly string[]): Promise<ReadonlyMap<string, TopicHealth>>;
  /** By topic, the effective value of a topic setting such as `retention.ms`. All topics must exist. */
  topicSetting(names: readonly string[], setting: string): Promise<ReadonlyMap<string, string>>;
  /** Differs between clusters, also when a new cluster has the address of an old one. */
  clusterId(): Promise<string>;
  inspectCluster(): Promise<ClusterReport>;
  /** The members of a consumer group, and its lag in topics that exist. */
  inspectGroup(groupId: string, topics: readonly string[]): Promise<GroupReport>;
  /** By topic and partition, the ranges of offsets that a consumer group has finished, in order. All topics must exist. */
  finished(groupId: string, topics: readonly string[]): Promise<FinishedOffsets>;
  /** By partition, the offset of the first record that is kept, and the end offset. */
  offsets(topic: string): Promise<ReadonlyMap<number, { readonly low: number; readonly high: number }>>;
  /**
   * By partition, the offset after the last record. Everything that was acknowledged before this call is below it, also records
   * behind an open transaction, before which `offsets` ends.
   */
  ends(topic: string): Promise<ReadonlyMap<number, number>>;
  /** By partition, the offset of the first record at `time` (milliseconds since the epoch) or later; else the end offset. */
  offsetsAt(topic: string, time: number): Promise<ReadonlyMap<number, number>>;
  /** Resolves if a broker answers within `timeoutMs` (default 5 s). */
  ping(options?: { timeoutMs?: number }): Promise<void>;
  /** The records of all publishers that are not acknowledged yet. Exclusive publishers are not included. */
  queued(): { readonly records: number; readonly bytes: number };
  /** `kafka-refused-clock` or `kafka-refused-commits` while Kafka has refused this replica for 15 s; it may accept others. */
  refusal(): TailraceError | undefined;
  /** Refused requests, since the start. */
  refusals(): { readonly commits: number; readonly clock: number };
  close(): Promise<void>;
}

export type FinishedOffsets = ReadonlyMap<string, ReadonlyMap<number, readonly OffsetRange[]>>;

export interface Partitioner {
  /** The number of partitions of the topic. */
  readonly partitions: number;
  readonly partitionOf: (key: string) => number;
}

const defaultTransactionTimeoutMs = 30_000;
const connectPauseMs = 1_000;

export function connectKafka(settings: KafkaSettings, log: KafkaLog, observer: KafkaObserver = {}): Kafka {
  return openKafka(libraryClient(settings, log, observer.onRequest), settings, log, observer);
}

/** As `connectKafka`, on a given client. */
export function openKafka(
  client: LibraryClient,
  settings: Pick<KafkaSettings, 'brokers'>,
  log: KafkaLog,
  { onUnreadable }: Pick<KafkaObserver, 'onUnreadable'> = {},
): Kafka {
  const clients = createClients(client);
  const classify = (error: unknown): unknown => kafkaFailure(error, settings.brokers);
  const reportUnreadable = createUnreadableReporter(log, onUnreadable);
  const opened = new Set<{ close(): Promise<void> }>();
  const publishers = new Set<BatchingPublisher>();
  const refusals: KafkaRefusals = { commits: new Refusals(), clock: new Refusals() };
  const administration = openAdministration(clients.admin, classify);
  const { admin, administer } = administration;
  // A client of its own: a metadata request for one topic makes the library forget all other topics for a moment.
  const metadata = openAdministration(clients.admin, classify);
  const lookUps = openAdministration(clients.admin, classify);
  const layouts = createTopicLayouts(metadata.administer);
  const ending = new AbortController();
  const closing = ending.signal;
  const closeLater = async <T extends { close(): Promise<void> }>(opening: Promise<T>): Promise<T> => {
    const resource = await opening;
    opened.add(resource);
    const close: (...options: unknown[]) => Promise<void> = resource.close.bind(resource);
    // Scans and exclusive publishers are opened for single requests.
    resource.close = (...options: unknown[]) => {
      opened.delete(resource);
      return close(...options);
    };
    if (closing.aborted) await resource.close();
    return resource;
  };
  const connectedAdmin = () => administer((admin) => Promise.resolve(admin));

  const reader = async (createConsumer: CreateReader): Promise<ReaderDependencies> => ({
    createConsumer,
    admin: await connectedAdmin(),
    classify,
    log,
    reportUnreadable,
    closing,
  });
  const openScan = async (options: ScanOptions): Promise<Scan> =>
    startScan(await reader(clients.tailConsumer), options);

  return {
    publisher(options) {
      const createProducer = clients.producer;
      const { clock } = refusals;
      const publisher = new BatchingPublisher({ createProducer, layouts, classify, log, clock }, options);
      publishers.add(publisher);
      opened.add(publisher);
      return publisher;
    },

    async exclusivePublisher(id, { transactionTimeoutMs = defaultTransactionTimeoutMs } = {}) {
      const producer = clients.transactionalProducer(id, transactionTimeoutMs);
      const endsOf = (topic: string) => administer((connected) => topicOffsets(connected, topic));
      return closeLater(openExclusivePublisher(producer, endsOf, classify));
    },

    async partitioner(topic) {
      const { leaders } = await layouts.renew(topic);
      return { partitions: leaders.length, partitionOf: (key) => partitionOfKey(key, leaders.length) };
    },

    async consume(options) {
      const claims: Claims = { owned: [], sent: [] };
      const pacing: Pacing = { waitMs: () => maxWaitMs, onAnswer: () => undefined };
      const consumer = clients.groupConsumer({
        groupId: options.groupId,
        // What Kafka has removed owns nothing.
        owned: options.coPartitioned
          ? () => (claims.sent = consumer.isMember ? claims.owned : [])
          : undefined,
        fetching: pacing,
      });
      const dependencies = {
        member: { consumer, claims, pacing },
        inquiries: { admin: await retryUntilConnected(admin), lookUpAdmin: lookUps.admin, openScan },
        classify,
        log,
        reportUnreadable,
        refusals,
        closing,
      };
      return closeLater(startConsumption(dependencies, options));
    },

    async follow(options) {
      return closeLater(startFollower(await reader(clients.followerConsumer), options));
    },

    async tail(options) {
      return closeLater(startTail(await reader(clients.tailConsumer), options));
    },

    scan: (options) => closeLater(openScan(options)),

    ensureTopics: (specs, patience) => administer((admin) => ensureTopics(admin, specs, patience)),
    inspectTopics: (specs) => administer((admin) => inspectTopics(admin, specs)),
    describeTopics: (names) => administer((admin) => describeTopics(admin, names)),
    addPartitions: (topic, count, patience) =>
      administer((admin) => addPartitions(admin, { topic, count }, patience)),
    inspectDurability: (names) => administer((admin) => inspectDurability(admin, names)),
    inspectCluster: () => administer(inspectCluster),
    inspectGroup: (groupId, topics) => administer((admin) => inspectGroup(admin, groupId, topics)),
    listTopics: () => administer((admin) => admin.listTopics()),
    inspectHealth: (names) => administer((admin) => inspectHealth(admin, names)),
    async topicSetting(names, setting) {
      const wanted = new Map(names.map((name) => [name, [setting]]));
      const found = await administer((admin) => topicSettings(admin, wanted));
      return new Map(Array.from(found, ([name, values]) => [name, values[setting] ?? '']));
    },
    clusterId: () => administer(async (admin) => (await admin.describeCluster()).clusterId),
    finished: (groupId, topics) => administer((admin) => finishedOffsets(admin, groupId, topics)),
    async offsets(topic) {
      const found = await administer((admin) => topicOffsets(admin, topic));
      return new Map(
        found.map(({ partition, low, high }) => [partition, { low: Number(low), high: Number(high) }]),
      );
    },
    async ends(topic) {
      const found = await administer((admin) => topicEnds(admin, topic));
      return new Map(found.map(({ partition, offset }) => [partition, Number(offset)]));
    },
    async offsetsAt(topic, time) {
      const found = await administer((admin) => topicOffsetsSince(admin, topic, time));
      return new Map(found.map(({ partition, offset }) => [partition, Number(offset)]));
    },

    async ping({ timeoutMs = 5_000 } = {}) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => {
          const message =
            `Kafka at ${settings.brokers.join(', ')} did not answer within ${timeoutMs} ms. ` +
            'Check KAFKA_BROKERS, KAFKA_SSL and that the brokers run.';
          reject(new TailraceError('kafka-unavailable', message));
        }, timeoutMs);
      });
      try {
        await Promise.race([administer((admin) => admin.describeCluster()), late]);
      } finally {
        clearTimeout(timer);
      }
    },

    queued() {
      let [records, bytes] = [0, 0];
      for (const publisher of publishers) {
        records += publisher.bufferedRecords;
        bytes += publisher.bufferedBytes;
      }
      return { records, bytes };
    },

    refusal() {
      if (refusals.clock.areLasting) return new TailraceError('kafka-refused-clock');
      return refusals.commits.areLasting ? new TailraceError('kafka-refused-commits') : undefined;
    },

    refusals: () => ({ commits: refusals.commits.count, clock: refusals.clock.count }),

    async close() {
      ending.abort();
      for (const resource of opened) await resource.close();
      opened.clear();
      await Promise.all([administration.close(), metadata.close(), lookUps.close()]);
      client.close?.();
    },
  };

  async function retryUntilConnected<T>(connect: () => Promise<T>): Promise<T> {
    while (!closing.aborted) {
      try {
        return await connect();
      } catch (error) {
        const failure = classify(error);
        if (!(failure instanceof TailraceError)) throw failure;
        log.warn({ err: failure }, 'Kafka unavailable, retrying');
        await wait(connectPauseMs, undefined, { signal: closing }).catch(() => undefined);
      }
    }
    throw new TailraceError('shutting-down');
  }
}
