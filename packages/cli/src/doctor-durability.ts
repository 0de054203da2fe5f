/** Whether losing the disk of one broker would lose events. */
import { isTailraceError } from '@tailrace/errors';
import type { Kafka, TopicDurability } from '@tailrace/kafka';
import { replicationFor, topicNames } from '@tailrace/topics';
import type { Finding } from './doctor.ts';
import type { TopicSettings } from './settings.ts';
import { countOf } from './table.ts';
import { specsOf } from './topic-specs.ts';

const about = 'durability';

/** Kafka's own: how far each service is, and what exclusive publishers left unfinished. */
const offsetsTopic = '__consumer_offsets';
const transactionsTopic = '__transaction_state';

export async function checkDurability(kafka: Kafka, settings: TopicSettings): Promise<Finding[]> {
  const { brokers } = await kafka.inspectCluster();
  const names = topicNames(settings.prefix);
  // Tiers of an earlier schedule may still hold records.
  const tiers = (await kafka.listTopics()).filter((topic) => names.retryTierDelayMs(topic) !== undefined);
  const ours = await kafka.inspectDurability([
    ...new Set([...specsOf(settings).map(({ name }) => name), ...tiers]),
  ]);
  const kafkasOwn = await inspectWhereAllowed(kafka, [offsetsTopic, transactionsTopic]);
  return durabilityFindings(brokers.length, settings.replication, ours, kafkasOwn);
}

/** Pure. `brokers` is how many there are now; `asked` is TAILRACE_REPLICATION. */
export function durabilityFindings(
  brokers: number,
  asked: number | undefined,
  ours: ReadonlyMap<string, TopicDurability>,
  kafkasOwn: ReadonlyMap<string, TopicDurability>,
): Finding[] {
  const all = [...ours, ...kafkasOwn];
  if (all.length === 0) return [];
  if (brokers === 1 && all.every(([, { replicationFactor }]) => replicationFactor === 1)) {
    return [
      {
        level: 'warn',
        about,
        says: 'there is one broker, and its disk has the only copy of everything: fine for trying out.',
        hint: 'For production run three brokers or more; topics that are created there get three copies.',
      },
    ];
  }
  const factors = Array.from(ours.values(), ({ replicationFactor }) => replicationFactor);
  const { factor, minInSync } = replicationFor(brokers, asked, factors);
  const single = namesOf(all, ({ replicationFactor }) => replicationFactor === 1);
  const lossy = namesOf(
    [...ours, ...[...kafkasOwn].filter(([name]) => name === transactionsTopic)],
    ({ replicationFactor, minInSync }) => replicationFactor > 1 && minInSync <= 1,
  );
  const forgetful = namesOf(
    [...kafkasOwn].filter(([name]) => name === offsetsTopic),
    ({ replicationFactor, minInSync }) => replicationFactor > 1 && minInSync <= 1,
  );
  const brittle = namesOf(
    all,
    ({ replicationFactor, minInSync }) => replicationFactor > 1 && minInSync >= replicationFactor,
  );
  const findings: Finding[] = [];
  if (single.length > 0) {
    findings.push({
      level: 'fail',
      about,
      says: `on one broker only, whose disk has the only copy: ${single.join(', ')}.`,
      hint: `Add copies with kafka-reassign-partitions.sh, as packages/topics/README.md shows: ${factor} of each partition.`,
    });
  }
  if (lossy.length > 0) {
    findings.push({
      level: 'fail',
      about,
      says: `min.insync.replicas is 1, so the only copy of an acknowledged record may be on one disk: ${lossy.join(', ')}.`,
      hint:
        factor > 2
          ? setting(minInSync)
          : 'Add a third broker and a third copy, and then set min.insync.replicas to 2 (packages/topics/README.md).',
    });
  }
  if (brittle.length > 0) {
    findings.push({
      level: 'warn',
      about,
      says: `min.insync.replicas is as many as there are copies, so one broker away stops all writing: ${brittle.join(', ')}.`,
      hint: 'Add a copy, or lower min.insync.replicas by one.',
    });
  }
  if (forgetful.length > 0) {
    findings.push({
      level: 'warn',
      about,
      says: `min.insync.replicas of ${offsetsTopic} is 1: losing one disk may repeat deliveries; it loses none.`,
      hint: setting(minInSync),
    });
  }
  if (findings.length > 0) return findings;
  const fewest = all.reduce((a, b) => (b[1].replicationFactor < a[1].replicationFactor ? b : a))[1];
  const says = `${countOf(fewest.replicationFactor, 'copy')} of each record or more, ${fewest.minInSync} before it is acknowledged`;
  return [{ level: 'ok', about, says }];
}

function setting(minInSync: number): string {
  return (
    'For each of them: kafka-configs.sh --alter --entity-type topics --entity-name TOPIC ' +
    `--add-config min.insync.replicas=${Math.max(2, minInSync)}.`
  );
}

function namesOf(
  topics: readonly (readonly [string, TopicDurability])[],
  holds: (topic: TopicDurability) => boolean,
): string[] {
  return topics.filter(([, topic]) => holds(topic)).map(([name]) => name);
}

/** Kafka's own topics are often hidden from the users of a cluster. */
async function inspectWhereAllowed(
  kafka: Kafka,
  names: readonly string[],
): Promise<ReadonlyMap<string, TopicDurability>> {
  try {
    return await kafka.inspectDurability(names);
  } catch (error) {
    if (isTailraceError(error, 'kafka-refused-credentials')) return new Map();
    throw error;
  }
}
