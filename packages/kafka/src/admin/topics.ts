/**
 * Creates missing topics, reports how existing topics differ from their specification, and adds partitions. Adding
 * partitions is the only change that is made to an existing topic.
 */
import { TailraceError } from '@tailrace/errors';
import { errorChain } from '../failure.ts';
import { NotYet, patiently, startPatience, type Patience, type WaitFor } from './patience.ts';
import { differencesOf } from './topic-differences.ts';
import type { TopicDescription, TopicReport, TopicSpec } from './topic-spec.ts';
import kafkajs from '../library.ts';
import type { Admin } from '../patches/reading/admin-requests.ts';

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

/** @throws TailraceError `too-few-brokers`; `kafka-unavailable` at the end of the patience */
export function ensureTopics(
  admin: Admin,
  specs: readonly TopicSpec[],
  patience = startPatience(),
): Promise<TopicReport[]> {
  /** Those that the first look did not find. */
  let missing: readonly TopicSpec[] | undefined;
  let isCreatedHere = true;
  return patiently(patience, 'the list of topics', async (waitFor) => {
    const existing = await describeTopics(admin, namesIn(specs));
    const absent = specs.filter(({ name }) => !existing.has(name));
    const isFirst = missing === undefined;
    missing ??= absent;
    if (absent.length > 0) {
      waitFor(`the creation of ${countOf(absent.length, 'topic')}`);
      const created = await createTopics(admin, absent, specs, existing);
      // False if another process created one of them at the same moment, or an earlier attempt that was not answered.
      if (isFirst) isCreatedHere = created;
    }
    const names = missing.map(({ name }) => name);
    if (names.length > 0) await leadersKnown(admin, names, waitFor);
    waitFor(`the settings of ${countOf(specs.length, 'topic')}`);
    if (!isCreatedHere) return report(admin, specs, 'created');
    const compared = specs.filter(({ name }) => !names.includes(name));
    return report(admin, compared, 'created', specs);
  });
}

export function inspectTopics(admin: Admin, specs: readonly TopicSpec[]): Promise<TopicReport[]> {
  return report(admin, specs, 'missing');
}

/**
 * Resolves when the topic has at least `count` partitions, each with a leader. Kafka cannot remove partitions.
 *
 * @throws TailraceError `topic-missing`; `kafka-unavailable` at the end of the patience
 */
export function addPartitions(
  admin: Admin,
  { topic, count }: { readonly topic: string; readonly count: number },
  patience: Patience = startPatience(),
): Promise<void> {
  const countPartitions = async (): Promise<number> => {
    const found = (await describeTopics(admin, [topic])).get(topic);
    if (found === undefined) throw new TailraceError('topic-missing');
    return found.partitions;
  };
  let isAdded = false;
  return patiently(patience, `the partitions of ${topic}`, async (waitFor) => {
    if ((await countPartitions()) >= count) {
      if (isAdded) await leadersKnown(admin, [topic], waitFor);
      return;
    }
    waitFor(`the creation of partitions of ${topic}`);
    if (!isAdded) {
      await admin.createPartitions({ topicPartitions: [{ topic, count }] }).catch((error: unknown) => {
        // They were added, by an earlier request or another process, and the broker that was asked does not know it yet.
        if (!errorChain(error).some(({ type }) => type === 'INVALID_PARTITIONS')) throw error;
      });
      isAdded = true;
    }
    throw new NotYet(`${topic} has not ${count} partitions yet`);
  });
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

/** Whether every partition has a leader that knows it, which takes a while after the creation. Throws until then. */
async function leadersKnown(admin: Admin, topics: readonly string[], waitFor: WaitFor): Promise<void> {
  const metadata = await admin.fetchTopicMetadata({ topics: [...topics] });
  const leaderless = metadata.topics
    .map(({ name, partitions }) => ({
      name,
      count: partitions.filter(({ leader }) => leader < 0).length,
    }))
    .filter(({ count }) => count > 0);
  const [first] = leaderless;
  if (first) {
    const others =
      leaderless.length > 1 ? ` and of partitions of ${countOf(leaderless.length - 1, 'other topic')}` : '';
    waitFor(`a leader of ${countOf(first.count, 'partition')} of ${first.name}${others}`);
    throw new NotYet(`${first.name} has partitions without a leader`);
  }
  waitFor(`the leaders of ${topics.length === 1 ? (topics[0] ?? '') : `${topics.length} new topics`}`);
  // Answered only by leaders that know that they are.
  await admin.readEnds(topics);
}

function countOf(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function namesIn(specs: readonly TopicSpec[]): string[] {
  return [...new Set(specs.flatMap(({ name, samePartitionsAs }) => [name, samePartitionsAs ?? name]))];
}
