/** `tailrace topics apply`: creates missing topics, and adds partitions. */
import { openConfig } from '@tailrace/config';
import { producerSchema } from '@tailrace/events';
import { patiently, renewPatience, type Kafka, type Patience, type TopicReport } from '@tailrace/kafka';
import { registerSubject, type SubjectReport } from '@tailrace/registry';
import { readSettings } from '@tailrace/service';
import { topicNames, type PartitionGroup } from '@tailrace/topology';
import { leaveEntry } from '../audit.ts';
import { exitCodes, UsageError, type CommandContext, type Run } from '../command.ts';
import { withKafka } from '../kafka.ts';
import { registrySettings, type TopicSettings } from '../settings.ts';
import { addPartitions } from './add-partitions.ts';
import { replicatedTopics } from './required-topics.ts';
import { coloured } from '../terminal/coloured.ts';

const colours = {
  missing: 'red',
  created: 'green',
  grown: 'green',
  registered: 'green',
  exists: 'dim',
  differs: 'yellow',
} as const;

/** A `TopicReport` with the partitions that were added. */
interface AppliedTopic extends Omit<TopicReport, 'outcome'> {
  readonly outcome: TopicReport['outcome'] | 'grown';
  readonly partitions?: { readonly from: number; readonly to: number };
}

interface Values {
  readonly strict?: boolean;
  readonly partitions?: number;
  readonly only?: PartitionGroup;
}

export const applyTopics: Run<Values> = async ({ strict = false, partitions, only }, context) => {
  if (only !== undefined && partitions === undefined) {
    throw new UsageError('--only requires --partitions');
  }
  const { registry } = readSettings(context.env, registrySettings);
  const { topics, names } = await withKafka(
    context,
    async (kafka, settings, _secretKeys, patience) => {
      const names = topicNames(settings.prefix);
      await patiently(patience, 'the owner of the topics', () =>
        checkOwner(kafka, names.config, settings.owner, context.log),
      );
      const topics = await createAndExtend({ kafka, settings, patience }, { partitions, only }, context);
      const changes = topics
        .filter(({ outcome }) => outcome === 'created' || outcome === 'grown')
        .map(({ name, outcome, partitions }) => ({
          field: name,
          before: partitions?.from,
          after: partitions?.to ?? outcome,
        }));
      if (changes.length > 0) {
        const giveUpAfterMs = Math.max(10_000, patience.deadline - performance.now());
        const change = { action: 'topics apply', target: 'topics', changes, giveUpAfterMs };
        await leaveEntry(kafka, names.audit, change, context);
      }
      return { topics, names };
    },
    { timeLimit: partitions === undefined, patient: true },
  );
  const schema =
    registry === undefined
      ? undefined
      : await registerSubject(registry, `${names.events}-value`, producerSchema());
  const differs = topics.some(({ differences }) => differences.length > 0);
  return {
    exitCode: strict && differs ? exitCodes.failed : exitCodes.done,
    text: [...topics.flatMap(linesOf), ...(schema ? [schemaLine(schema)] : [])],
    json: { topics, ...(schema && { schema }) },
  };
};

/** @throws TailraceError `other-owner` if the topics exist and belong to another installation */
async function checkOwner(
  kafka: Kafka,
  topic: string,
  owner: string | undefined,
  log: CommandContext['log'],
): Promise<void> {
  if (owner === undefined || !(await kafka.listTopics()).includes(topic)) return;
  const config = await openConfig(kafka, topic, log, { owner });
  await config.close();
}

interface Cluster {
  readonly kafka: Kafka;
  readonly settings: TopicSettings;
  readonly patience: Patience;
}

async function createAndExtend(
  { kafka, settings, patience }: Cluster,
  {
    partitions,
    only,
  }: { readonly partitions: number | undefined; readonly only: PartitionGroup | undefined },
  { terminal, warn }: CommandContext,
): Promise<AppliedTopic[]> {
  const allTopics = partitions !== undefined && only === undefined;
  const wanted = allTopics ? { ...settings, partitions } : settings;
  const specs = await patiently(patience, 'the list of brokers and topics', () =>
    replicatedTopics(kafka, wanted),
  );
  const reports = await kafka.ensureTopics(specs, patience);
  if (partitions === undefined) return reports;

  const grown = await addPartitions(kafka, {
    names: topicNames(settings.prefix),
    specs,
    partitions,
    only,
    patience,
    onTopic: (name) => terminal.progress(`Adding partitions to ${name}`),
  });
  terminal.progress('');
  if (allTopics && partitions !== settings.partitions) {
    warn(`Set TAILRACE_PARTITIONS to ${partitions} for later runs: it is ${settings.partitions} now.`);
  }
  const created = new Set(reports.filter(({ outcome }) => outcome === 'created').map(({ name }) => name));
  const found = await patiently(renewPatience(patience), 'the settings of the topics', () =>
    kafka.inspectTopics(specs),
  );
  const after = found.map(({ name, outcome, differences }): AppliedTopic => {
    const growth = grown.find((topic) => topic.name === name);
    if (growth)
      return { name, outcome: 'grown', differences, partitions: { from: growth.from, to: growth.to } };
    return { name, outcome: created.has(name) ? 'created' : outcome, differences };
  });
  const others = grown.filter(({ name }) => !specs.some((spec) => spec.name === name));
  return [
    ...after,
    ...others.map(({ name, from, to }): AppliedTopic => ({
      name,
      outcome: 'grown',
      differences: [],
      partitions: { from, to },
    })),
  ];
}

function linesOf({ name, outcome, differences, partitions }: AppliedTopic): string[] {
  const growth = partitions ? `: ${partitions.from} → ${partitions.to} partitions` : '';
  const line = `${coloured(colours[outcome], outcome.padEnd(7))}  ${name}${growth}`;
  return [line, ...differences.map((difference) => `         ${difference}`)];
}

function schemaLine({ subject, outcome, schemaId }: SubjectReport): string {
  return `${coloured(colours[outcome], outcome.padEnd(7))}  ${subject}, schema ${schemaId}`;
}
