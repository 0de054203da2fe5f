/**
 * Creates missing topics, reports how existing topics differ from their specification, and adds partitions. Adding
 * partitions is the only change that is made to an existing topic.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { TailraceError } from '@tailrace/errors';
import type { Admin } from 'kafkajs';
import { errorChain } from '../failure.ts';
import { topicOffsets } from './offsets.ts';
import { differencesOf } from './topic-differences.ts';
import type { TopicDescription, TopicReport, TopicSpec } from './topic-spec.ts';
import kafkajs from '../wire/library.ts';

const creationTimeoutMs = 10_000;
const pollMs = 50;

/** Topics that do not exist are left out. */
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

/** The effective values of the named settings of each topic, including the brokers' defaults. */
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
    // False if another process created one of them at the same moment. It is compared below.
    const created = await createTopics(admin, missing, specs, existing);
    await untilLeadersKnown(
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

/** Resolves when the topic has at least `count` partitions, each with a leader. Kafka cannot remove partitions. */
export async function addPartitions(admin: Admin, topic: string, count: number): Promise<void> {
  const countPartitions = async (): Promise<number> =>
    (await describeTopics(admin, [topic])).get(topic)?.partitions ?? 0;
  if ((await countPartitions()) >= count) return;
  try {
    await admin.createPartitions({ topicPartitions: [{ topic, count }] });
  } catch (error) {
    // Another process may have added them at the same moment.
    if ((await countPartitions()) < count) throw error;
  }
  await untilLeadersKnown(admin, [topic], count);
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
      // The library's own wait fails if a broker does not know the topic yet.
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
      `A new topic would have ${factor} replicas, but there are fewer brokers. ` +
      'Start that many brokers, or set TAILRACE_REPLICATION to the number of brokers.';
    throw new TailraceError('too-few-brokers', message, { cause: error });
  }
}

/** The number of the topic that it must equal. If that is missing too, the number of the other topics that must equal it. */
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

/** `all` also includes topics that are not compared, because they were just created. */
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

/** Waits until every partition has a leader that knows it, which takes a moment after the creation. */
async function untilLeadersKnown(admin: Admin, topics: string[], count = 0): Promise<void> {
  const deadline = performance.now() + creationTimeoutMs;
  for (;;) {
    try {
      const metadata = await admin.fetchTopicMetadata({ topics });
      const hasLeaders = metadata.topics.every(
        ({ partitions }) => partitions.length >= count && partitions.every(({ leader }) => leader >= 0),
      );
      if (hasLeaders) {
        await Promise.all(topics.map((topic) => topicOffsets(admin, topic)));
        return;
      }
      // The partitions exist. Clients wait for their leaders, as in an outage.
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
