/**
 * Topics as they should be and as they are: creates those that are missing, says how those that exist differ from
 * what is wanted, and adds partitions. Nothing but adding partitions changes a topic that exists.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { TailraceError } from '@tailrace/errors';
import type { Admin } from 'kafkajs';
import { errorChain } from './failure.ts';
import { topicOffsets } from './offsets.ts';
import { differencesOf } from './topic-differences.ts';
import kafkajs from './wire/library.ts';

export interface TopicSpec {
  readonly name: string;
  readonly partitions: number;
  /**
   * The topic that this one must have as many partitions as. Where it exists, its number counts, and `partitions`
   * only where it does not.
   */
  readonly samePartitionsAs?: string;
  /** What `tailrace topics apply --only` calls the topics that must have equally many partitions. */
  readonly group?: string;
  /** Whether it keeps the partitions that it was created with, because its readers rely on a key's partition. */
  readonly keepsPartitions?: boolean;
  /** By default the broker's own. */
  readonly replicationFactor?: number;
  /** Kafka's topic settings, such as `retention.ms`. */
  readonly config: Readonly<Record<string, string>>;
}

export interface TopicReport {
  readonly name: string;
  /** `missing` only where nothing was to be created. */
  readonly outcome: 'created' | 'missing' | 'exists' | 'differs';
  /** A sentence for each difference, with what to change. */
  readonly differences: readonly string[];
}

/** A topic as it is. */
export interface TopicDescription {
  readonly partitions: number;
  /** Of its partition with the fewest replicas. */
  readonly replicationFactor: number;
}

const creationTimeoutMs = 10_000;
const pollMs = 50;

/** Those that do not exist are left out. */
export async function describeTopics(
  admin: Admin,
  names: readonly string[],
): Promise<Map<string, TopicDescription>> {
  const existing = new Set(await admin.listTopics());
  const topics = names.filter((name) => existing.has(name));
  if (topics.length === 0) return new Map();
  const metadata = await admin.fetchTopicMetadata({ topics });
  const partitionsOf = new Map(metadata.topics.map(({ name, partitions }) => [name, partitions]));
  return new Map(
    topics.map((name) => {
      const partitions = partitionsOf.get(name) ?? [];
      const replicationFactor = Math.min(...partitions.map(({ replicas }) => replicas.length));
      return [name, { partitions: partitions.length, replicationFactor }];
    }),
  );
}

/** The settings in force of each topic, its own and the brokers' alike; only those named. */
export async function topicSettings(
  admin: Admin,
  wanted: ReadonlyMap<string, readonly string[]>,
): Promise<Map<string, Record<string, string>>> {
  if (wanted.size === 0) return new Map();
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: Array.from(wanted, ([name, configNames]) => ({
      type: kafkajs.ConfigResourceTypes.TOPIC,
      name,
      configNames: [...configNames],
    })),
  });
  return new Map(
    resources.map(({ resourceName, configEntries }) => [
      resourceName,
      Object.fromEntries(configEntries.map(({ configName, configValue }) => [configName, configValue])),
    ]),
  );
}

export async function ensureTopics(admin: Admin, specs: readonly TopicSpec[]): Promise<TopicReport[]> {
  const existing = await describeTopics(admin, namesIn(specs));
  const missing = specs.filter(({ name }) => !existing.has(name));
  if (missing.length > 0) {
    // False where another process created one of them at the same moment; what it made is compared below.
    const created = await createTopics(admin, missing, specs, existing);
    await untilLed(
      admin,
      missing.map(({ name }) => name),
    );
    if (!created) return report(admin, specs, 'created');
  }
  return report(
    admin,
    specs.filter(({ name }) => existing.has(name)),
    'created',
    specs,
  );
}

export function inspectTopics(admin: Admin, specs: readonly TopicSpec[]): Promise<TopicReport[]> {
  return report(admin, specs, 'missing');
}

/**
 * Gives a topic `count` partitions, and resolves when all of them have a leader. Does nothing where it has as many or
 * more: Kafka cannot remove partitions.
 */
export async function addPartitions(admin: Admin, topic: string, count: number): Promise<void> {
  const present = async (): Promise<number> =>
    (await describeTopics(admin, [topic])).get(topic)?.partitions ?? 0;
  if ((await present()) >= count) return;
  try {
    await admin.createPartitions({ topicPartitions: [{ topic, count }] });
  } catch (error) {
    // Another process may have added them at the same moment.
    if ((await present()) < count) throw error;
  }
  await untilLed(admin, [topic], count);
}

/** @throws TailraceError `too-few-brokers` */
async function createTopics(
  admin: Admin,
  missing: readonly TopicSpec[],
  specs: readonly TopicSpec[],
  existing: ReadonlyMap<string, TopicDescription>,
): Promise<boolean> {
  try {
    return await admin.createTopics({
      // The library's own waiting gives up where a broker does not know the topic yet.
      waitForLeaders: false,
      topics: missing.map((spec) => ({
        topic: spec.name,
        numPartitions: partitionsToCreate(spec, specs, existing),
        replicationFactor: spec.replicationFactor ?? -1,
        configEntries: Object.entries(spec.config).map(([name, value]) => ({ name, value })),
      })),
    });
  } catch (error) {
    const refusal = errorChain(error).find(({ type }) => type === 'INVALID_REPLICATION_FACTOR');
    if (refusal === undefined) throw error;
    const factor = missing[0]?.replicationFactor ?? 'more';
    const message =
      `A topic that is created is to have ${factor} copies, and there are fewer brokers. ` +
      'Start as many brokers, or set TAILRACE_REPLICATION to the number that there is.';
    throw new TailraceError('too-few-brokers', message, { cause: error });
  }
}

/** As many as the topic has that it must equal; where that is missing too, as many as the others that must equal it. */
function partitionsToCreate(
  { name, partitions, samePartitionsAs = name }: TopicSpec,
  specs: readonly TopicSpec[],
  existing: ReadonlyMap<string, TopicDescription>,
): number {
  const model = existing.get(samePartitionsAs);
  if (model) return model.partitions;
  const peers = specs.filter((spec) => spec.samePartitionsAs === samePartitionsAs);
  const counts = peers.flatMap((peer) => existing.get(peer.name)?.partitions ?? []);
  return counts.length > 0 ? Math.max(...counts) : partitions;
}

/** `others` also holds topics that are not to be compared: they were created a moment ago. */
async function report(
  admin: Admin,
  compared: readonly TopicSpec[],
  otherwise: 'created' | 'missing',
  all: readonly TopicSpec[] = compared,
): Promise<TopicReport[]> {
  const present = await describeTopics(admin, namesIn(all));
  const comparable = compared.filter(({ name }) => present.has(name));
  const settings = await topicSettings(
    admin,
    new Map(comparable.map(({ name, config }) => [name, Object.keys(config)])),
  );
  return all.map((spec) => {
    const { name } = spec;
    if (!comparable.includes(spec)) return { name, outcome: otherwise, differences: [] };
    const differences = differencesOf(spec, present, settings.get(name) ?? {}, all);
    return { name, outcome: differences.length > 0 ? 'differs' : 'exists', differences };
  });
}

/** Waits until every partition has a leader that knows of it, which takes a moment after it was created. */
async function untilLed(admin: Admin, topics: string[], count = 0): Promise<void> {
  const deadline = performance.now() + creationTimeoutMs;
  for (;;) {
    try {
      const metadata = await admin.fetchTopicMetadata({ topics });
      const isLed = metadata.topics.every(
        ({ partitions }) => partitions.length >= count && partitions.every(({ leader }) => leader >= 0),
      );
      // They are there, if without a leader: whoever uses them waits for one as in any outage.
      if (isLed) {
        await Promise.all(topics.map((topic) => topicOffsets(admin, topic)));
        return;
      }
      if (performance.now() > deadline) return;
    } catch (error) {
      if (performance.now() > deadline || !isUnknownTopic(error)) throw error;
    }
    await wait(pollMs);
  }
}

function isUnknownTopic(error: unknown): boolean {
  return errorChain(error).some(({ type }) => type === 'UNKNOWN_TOPIC_OR_PARTITION');
}

function namesIn(specs: readonly TopicSpec[]): string[] {
  return [...new Set(specs.flatMap(({ name, samePartitionsAs }) => [name, samePartitionsAs ?? name]))];
}
