/** Creates topics that are missing, and says how those that exist differ from what is wanted; it never changes one. */
import { setTimeout as wait } from 'node:timers/promises';
import kafkajs, { type Admin } from 'kafkajs';
import { errorChain } from './failure.ts';
import { topicOffsets } from './offsets.ts';

export interface TopicSpec {
  readonly name: string;
  readonly partitions: number;
  /** By default the broker's own. */
  readonly replicationFactor?: number;
  /** Kafka's topic settings, such as `retention.ms`. */
  readonly config: Readonly<Record<string, string>>;
}

export interface TopicReport {
  readonly name: string;
  /** `missing` only where nothing was to be created. */
  readonly outcome: 'created' | 'missing' | 'exists' | 'differs';
  /** A sentence for each difference, with the setting to change. */
  readonly differences: readonly string[];
}

const creationTimeoutMs = 10_000;
const pollMs = 50;

export async function ensureTopics(admin: Admin, specs: readonly TopicSpec[]): Promise<TopicReport[]> {
  const existing = new Set(await admin.listTopics());
  const missing = specs.filter(({ name }) => !existing.has(name));
  if (missing.length > 0) {
    // False where another process created one of them at the same moment; what it made is compared below.
    const created = await admin.createTopics({
      // The library's own waiting gives up where a broker does not know the topic yet.
      waitForLeaders: false,
      topics: missing.map(({ name, partitions, replicationFactor = -1, config }) => ({
        topic: name,
        numPartitions: partitions,
        replicationFactor,
        configEntries: Object.entries(config).map(([name, value]) => ({ name, value })),
      })),
    });
    if (!created) for (const { name } of missing) existing.add(name);
    await untilLed(
      admin,
      missing.map(({ name }) => name),
    );
  }
  return report(admin, specs, existing, 'created');
}

export async function inspectTopics(admin: Admin, specs: readonly TopicSpec[]): Promise<TopicReport[]> {
  return report(admin, specs, new Set(await admin.listTopics()), 'missing');
}

async function report(
  admin: Admin,
  specs: readonly TopicSpec[],
  existing: ReadonlySet<string>,
  otherwise: 'created' | 'missing',
): Promise<TopicReport[]> {
  const present = specs.filter(({ name }) => existing.has(name));
  const differences = await compare(admin, present);
  return specs.map(({ name }) => {
    const found = differences.get(name);
    if (found === undefined) return { name, outcome: otherwise, differences: [] };
    return { name, outcome: found.length > 0 ? 'differs' : 'exists', differences: found };
  });
}

/** Waits until every partition has a leader that knows of it, which takes a moment after it was created. */
async function untilLed(admin: Admin, topics: string[]): Promise<void> {
  const deadline = performance.now() + creationTimeoutMs;
  for (;;) {
    try {
      const metadata = await admin.fetchTopicMetadata({ topics });
      const partitions = metadata.topics.flatMap((topic) => topic.partitions);
      // They are there, if without a leader: whoever uses them waits for one as in any outage.
      if (partitions.every(({ leader }) => leader >= 0)) {
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

async function compare(admin: Admin, specs: readonly TopicSpec[]): Promise<Map<string, string[]>> {
  const differences = new Map<string, string[]>();
  if (specs.length === 0) return differences;
  const { topics } = await admin.fetchTopicMetadata({ topics: specs.map(({ name }) => name) });
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: specs.map(({ name, config }) => ({
      type: kafkajs.ConfigResourceTypes.TOPIC,
      name,
      configNames: Object.keys(config),
    })),
  });
  for (const { name, partitions, config } of specs) {
    const found: string[] = [];
    const count = topics.find((topic) => topic.name === name)?.partitions.length;
    if (count !== partitions) {
      found.push(
        `it has ${count ?? 0} partitions and should have ${partitions}: ` +
          (count !== undefined && count < partitions
            ? 'add them with kafka-topics.sh --alter --partitions while the services are stopped, ' +
              'since a key changes its partition'
            : 'set TAILRACE_PARTITIONS to the number it has'),
      );
    }
    const entries = resources.find(({ resourceName }) => resourceName === name)?.configEntries ?? [];
    for (const [setting, wanted] of Object.entries(config)) {
      const is = entries.find(({ configName }) => configName === setting)?.configValue;
      if (is === wanted) continue;
      found.push(
        `${setting} is ${is ?? 'unknown'} and should be ${wanted}: ` +
          `change it with kafka-configs.sh --alter --add-config ${setting}=${wanted}`,
      );
    }
    differences.set(name, found);
  }
  return differences;
}
