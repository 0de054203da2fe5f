/** `tailrace topics`: the topics that Tailrace needs. */
import { styleText } from 'node:util';
import { producerSchema } from '@tailrace/events';
import type { Kafka, TopicReport } from '@tailrace/kafka';
import { registerSubject, type SubjectReport } from '@tailrace/registry';
import { readSettings } from '@tailrace/service';
import { partitionGroups, topicNames, type PartitionGroup } from '@tailrace/topics';
import { defineCommand, exitCodes, UsageError, type CommandContext } from './command.ts';
import { withKafka } from './kafka.ts';
import { registrySettings, type TopicSettings } from './settings.ts';
import { addPartitions } from './topic-growth.ts';
import { replicatedSpecsOf, specsOf } from './topic-specs.ts';

const colours = {
  missing: 'red',
  created: 'green',
  grown: 'green',
  registered: 'green',
  exists: 'dim',
  differs: 'yellow',
} as const;

/** As `TopicReport`, and what partitions were added. */
interface AppliedTopic extends Omit<TopicReport, 'outcome'> {
  readonly outcome: TopicReport['outcome'] | 'grown';
  readonly partitions?: { readonly from: number; readonly to: number };
}

export const topicsApply = defineCommand({
  name: 'topics apply',
  summary: 'create the topics that are missing, and add partitions',
  details: [
    'Creates what is missing, and says of a topic that differs how, and what to do about it. Without --partitions\n' +
      'it never changes a topic that exists, so it may run at every deployment. That a topic differs is no\n' +
      'failure, since it may be meant; with --strict it is.',
    'With --partitions it gives the topics N partitions, on the running system, in an order that is safe. Kafka\n' +
      'cannot remove partitions again. packages/topics/README.md says what holds meanwhile and what does not.',
    'Where SCHEMA_REGISTRY_URL is set, it also registers the JSON Schema of what may be written to the topic\n' +
      'events, as the subject <prefix>events-value.',
  ],
  examples: [
    'topics apply',
    'topics apply --strict',
    'topics apply --partitions 12',
    'topics apply --partitions 12 --only deliveries',
  ],
  through: 'kafka',
  options: {
    strict: { type: 'boolean', help: 'end with exit code 1 where a topic differs' },
    partitions: {
      type: 'integer',
      placeholder: 'N',
      min: 1,
      max: 10_000,
      help: 'add partitions until each topic has N; those that keep their number are left alone',
    },
    only: {
      type: 'string',
      placeholder: 'TOPICS',
      choices: partitionGroups,
      help: 'with --partitions: only deliveries, its retry tiers, replay lane and dead letters; or only events',
    },
  },
  async run({ strict, partitions, only }, context) {
    if (only !== undefined && partitions === undefined) throw new UsageError('--only goes with --partitions');
    const { registryUrl } = readSettings(context.env, registrySettings);
    const { topics, names } = await withKafka(
      context,
      async (kafka, settings) => ({
        topics: await applyTopics(kafka, settings, { partitions, only }, context),
        names: topicNames(settings.prefix),
      }),
      { mayTakeLong: partitions !== undefined },
    );
    const schema =
      registryUrl === undefined
        ? undefined
        : await registerSubject(registryUrl, `${names.events}-value`, producerSchema());
    const differs = topics.some(({ differences }) => differences.length > 0);
    return {
      exitCode: strict && differs ? exitCodes.failed : exitCodes.done,
      text: [...topics.flatMap(linesOf), ...(schema ? [schemaLine(schema)] : [])],
      json: { topics, ...(schema && { schema }) },
    };
  },
});

async function applyTopics(
  kafka: Kafka,
  settings: TopicSettings,
  { partitions, only }: { readonly partitions: number | undefined; readonly only: string | undefined },
  { terminal, warn }: CommandContext,
): Promise<AppliedTopic[]> {
  const isForAll = partitions !== undefined && only === undefined;
  const wanted = isForAll ? { ...settings, partitions } : settings;
  const specs = await replicatedSpecsOf(kafka, wanted);
  const reports = await kafka.ensureTopics(specs);
  if (partitions === undefined) return reports;

  const grown = await addPartitions(kafka, {
    ...{ names: topicNames(settings.prefix), specs, partitions, only: only as PartitionGroup | undefined },
    onTopic: (name) => {
      terminal.progress(`Adding partitions to ${name}`);
    },
  });
  terminal.progress('');
  if (isForAll && partitions !== settings.partitions) {
    warn(`Set TAILRACE_PARTITIONS to ${partitions} for later runs: it is ${settings.partitions} here.`);
  }
  const created = new Set(reports.filter(({ outcome }) => outcome === 'created').map(({ name }) => name));
  const after = (await kafka.inspectTopics(specs)).map(({ name, outcome, differences }): AppliedTopic => {
    const growth = grown.find((topic) => topic.name === name);
    if (growth)
      return { name, outcome: 'grown', differences, partitions: { from: growth.from, to: growth.to } };
    return { name, outcome: created.has(name) ? 'created' : outcome, differences };
  });
  const others = grown.filter(({ name }) => !specs.some((spec) => spec.name === name));
  return [
    ...after,
    ...others.map(({ name, from, to }): AppliedTopic => ({
      ...{ name, outcome: 'grown', differences: [], partitions: { from, to } },
    })),
  ];
}

export const topicsList = defineCommand({
  name: 'topics list',
  summary: 'show which topics exist, and which are missing',
  details: [
    'Lists the topics that Tailrace needs with these settings, and others that begin with its prefix, such as\n' +
      'retry tiers of an earlier schedule.',
  ],
  examples: ['topics list'],
  through: 'kafka',
  options: {},
  async run(_options, context) {
    const topics = await withKafka(context, async (kafka, settings) => {
      const existing = new Set(await kafka.listTopics());
      const needed = specsOf(settings).map(({ name }) => name);
      const others = [...existing].filter(
        (name) => name.startsWith(settings.prefix) && !needed.includes(name),
      );
      return [
        ...needed.map((name) => ({ name, state: existing.has(name) ? 'exists' : 'missing' })),
        ...others.sort().map((name) => ({ name, state: 'not needed' })),
      ];
    });
    return {
      exitCode: exitCodes.done,
      text: topics.map(({ name, state }) => `${state.padEnd(10)}  ${name}`),
      json: { topics },
    };
  },
});

function linesOf({ name, outcome, differences, partitions }: AppliedTopic): string[] {
  const growth = partitions ? `: ${partitions.from} → ${partitions.to} partitions` : '';
  const line = `${styleText(colours[outcome], outcome.padEnd(7))}  ${name}${growth}`;
  return [line, ...differences.map((difference) => `         ${difference}`)];
}

function schemaLine({ subject, outcome, schemaId }: SubjectReport): string {
  return `${styleText(colours[outcome], outcome.padEnd(7))}  ${subject}, schema ${schemaId}`;
}
