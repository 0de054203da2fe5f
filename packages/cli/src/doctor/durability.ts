/** Checks that the loss of one broker's disk does not lose events. */
import { isTailraceError } from '@tailrace/errors';
import type { Kafka, TopicDurability } from '@tailrace/kafka';
import { replicationFor, topicNames } from '@tailrace/topology';
import { findingsAbout, type Finding } from './finding.ts';
import type { TopicSettings } from '../settings.ts';
import { countOf } from '../terminal/table.ts';
import { requiredTopics } from '../topics/required-topics.ts';

const { ok, warn, fail } = findingsAbout('durability');

/** Kafka's own topics: committed offsets, and the state of transactions. */
const offsetsTopic = '__consumer_offsets';
const transactionsTopic = '__transaction_state';

export async function checkDurability(kafka: Kafka, settings: TopicSettings): Promise<Finding[]> {
  const { brokers } = await kafka.inspectCluster();
  const names = topicNames(settings.prefix);
  // Retry topics of an earlier schedule may still have records.
  const tiers = (await kafka.listTopics()).filter((topic) => names.retryTierDelayMs(topic) !== undefined);
  const ours = await kafka.inspectDurability([
    ...new Set([...requiredTopics(settings).map(({ name }) => name), ...tiers]),
  ]);
  const kafkasOwn = await inspectIfAllowed(kafka, [offsetsTopic, transactionsTopic]);
  return durabilityFindings(brokers.length, settings.replication, ours, kafkasOwn);
}

/** Pure. `brokers` is the number of brokers; `requested` is TAILRACE_REPLICATION. */
export function durabilityFindings(
  brokers: number,
  requested: number | undefined,
  ours: ReadonlyMap<string, TopicDurability>,
  kafkasOwn: ReadonlyMap<string, TopicDurability>,
): Finding[] {
  const all = [...ours, ...kafkasOwn];
  if (all.length === 0) return [];
  if (brokers === 1 && all.every(([, { replicationFactor }]) => replicationFactor === 1)) {
    return [
      warn(
        'there is one broker, and its disk has the only copy of all records: sufficient for evaluation only.',
        'In production, run at least three brokers; new topics then get three copies.',
      ),
    ];
  }
  const factors = Array.from(ours.values(), ({ replicationFactor }) => replicationFactor);
  const { factor, minInSync } = replicationFor(brokers, requested, factors);
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
    findings.push(
      fail(
        `only one copy, on the disk of one broker: ${single.join(', ')}.`,
        `Use ${factor} copies of each partition: add them with kafka-reassign-partitions.sh (see packages/topology/README.md).`,
      ),
    );
  }
  if (lossy.length > 0) {
    findings.push(
      fail(
        `min.insync.replicas is 1, so an acknowledged record may have only one copy, on one disk: ${lossy.join(', ')}.`,
        factor > 2
          ? setMinInSync(minInSync)
          : 'Add a third broker and a third copy, then set min.insync.replicas to 2 (see packages/topology/README.md).',
      ),
    );
  }
  if (brittle.length > 0) {
    findings.push(
      warn(
        `min.insync.replicas equals the number of copies, so writes fail if one broker is down: ${brittle.join(', ')}.`,
        'Add a copy, or lower min.insync.replicas by one.',
      ),
    );
  }
  if (forgetful.length > 0) {
    findings.push(
      warn(
        `min.insync.replicas of ${offsetsTopic} is 1: the loss of one disk may repeat deliveries, and loses none.`,
        setMinInSync(minInSync),
      ),
    );
  }
  if (findings.length > 0) return findings;
  const fewest = all.reduce((a, b) => (b[1].replicationFactor < a[1].replicationFactor ? b : a))[1];
  const says = `${countOf(fewest.replicationFactor, 'copy')} of each record or more, ${fewest.minInSync} before a write is acknowledged`;
  return [ok(says)];
}

function setMinInSync(minInSync: number): string {
  return (
    'For each topic: kafka-configs.sh --alter --entity-type topics --entity-name TOPIC ' +
    `--add-config min.insync.replicas=${Math.max(2, minInSync)}.`
  );
}

function namesOf(
  topics: readonly (readonly [string, TopicDurability])[],
  predicate: (topic: TopicDurability) => boolean,
): string[] {
  return topics.filter(([, topic]) => predicate(topic)).map(([name]) => name);
}

/** Empty if this user may not describe the topics, which is common for Kafka's own. */
async function inspectIfAllowed(
  kafka: Kafka,
  names: readonly string[],
): Promise<ReadonlyMap<string, TopicDurability>> {
  try {
    return await kafka.inspectDurability(names);
  } catch (error) {
    if (isTailraceError(error, 'kafka-permission-missing')) return new Map();
    throw error;
  }
}
