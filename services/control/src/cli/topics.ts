/** `tailrace topics`: the topics that Tailrace needs. */
import { styleText } from 'node:util';
import { producerSchema } from '@tailrace/events';
import type { TopicReport } from '@tailrace/kafka';
import { registerSubject, type SubjectReport } from '@tailrace/registry';
import { readSettings, schemaRegistryUrl } from '@tailrace/service';
import { topicNames, topicSpecs, type TopicNames } from '@tailrace/topics';
import { defineCommand, exitCodes } from './command.ts';
import { withKafka, type TopicSettings } from './kafka.ts';

const colours = {
  missing: 'red',
  created: 'green',
  registered: 'green',
  exists: 'dim',
  differs: 'yellow',
} as const;

export const topicsApply = defineCommand({
  name: 'topics apply',
  summary: 'create the topics that are missing',
  details: [
    'Creates what is missing, and says of a topic that differs how, and how to mend it. It never changes a\n' +
      'topic that exists, so it may run at every deployment. That a topic differs is no failure, since\n' +
      'somebody may have meant it; with --strict it is.',
    'Where SCHEMA_REGISTRY_URL is set, it also registers the JSON Schema of what may be written to the topic\n' +
      'events, as the subject <prefix>events-value.',
  ],
  examples: ['topics apply', 'topics apply --strict'],
  through: 'kafka',
  options: {
    strict: { type: 'boolean', help: 'end with exit code 1 where a topic differs' },
  },
  async run({ strict }, context) {
    const { registryUrl } = readSettings(context.env, { registryUrl: schemaRegistryUrl() });
    const { reports, names } = await withKafka(context, async (kafka, settings) => ({
      reports: await kafka.ensureTopics(specsOf(settings)),
      names: topicNames(settings.prefix),
    }));
    const schema =
      registryUrl === undefined
        ? undefined
        : await registerSubject(registryUrl, `${names.events}-value`, producerSchema());
    const differs = reports.some(({ outcome }) => outcome === 'differs');
    return {
      exitCode: strict && differs ? exitCodes.failed : exitCodes.done,
      text: [...reports.flatMap(linesOf), ...(schema ? [schemaLine(schema)] : [])],
      json: { topics: reports, ...(schema && { schema }) },
    };
  },
});

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

function specsOf({ prefix, partitions, retryScheduleMs }: TopicSettings) {
  const names: TopicNames = topicNames(prefix);
  return topicSpecs(names, { partitions, retryScheduleMs });
}

function linesOf({ name, outcome, differences }: TopicReport): string[] {
  const line = `${styleText(colours[outcome], outcome.padEnd(7))}  ${name}`;
  return [line, ...differences.map((difference) => `         ${difference}`)];
}

function schemaLine({ subject, outcome, schemaId }: SubjectReport): string {
  return `${styleText(colours[outcome], outcome.padEnd(7))}  ${subject}, schema ${schemaId}`;
}
