/** The replicas of each topic: those that are out of sync, and partitions without a leader. */
import type { Kafka } from '@tailrace/kafka';
import type { TopicSettings } from '../settings.ts';
import { countOf } from '../terminal/table.ts';
import { requiredTopics } from '../topics/required-topics.ts';
import { findingsAbout, type Finding } from './finding.ts';

const { ok, warn, fail } = findingsAbout('replication');

export interface TopicState {
  readonly name: string;
  readonly exists: boolean;
  readonly partitions: number;
  readonly replicationFactor: number;
  /** Partitions of which a replica is not in sync. */
  readonly underReplicated: number;
  /** Partitions that cannot be read or written. */
  readonly leaderless: number;
}

export async function topicStates(kafka: Kafka, settings: TopicSettings): Promise<TopicState[]> {
  const names = requiredTopics(settings).map(({ name }) => name);
  const described = await kafka.describeTopics(names);
  const health = await kafka.inspectHealth([...described.keys()]);
  return names.map((name) => ({
    name,
    exists: described.has(name),
    partitions: described.get(name)?.partitions ?? 0,
    replicationFactor: described.get(name)?.replicationFactor ?? 0,
    underReplicated: health.get(name)?.underReplicated ?? 0,
    leaderless: health.get(name)?.leaderless ?? 0,
  }));
}

export function replicationFindings(topics: readonly TopicState[]): Finding[] {
  const listed = (count: (topic: TopicState) => number): string[] =>
    topics.flatMap((topic) =>
      count(topic) > 0
        ? [`${topic.name} (${count(topic)} of ${countOf(topic.partitions, 'partition')})`]
        : [],
    );
  const leaderless = listed((topic) => topic.leaderless);
  const behind = listed((topic) => topic.underReplicated);
  const findings: Finding[] = [];
  if (leaderless.length > 0) {
    const says = `partitions without a leader, which cannot be read or written: ${leaderless.join(', ')}.`;
    findings.push(fail(says, 'Start the brokers that have their replicas.'));
  }
  if (behind.length > 0) {
    const says = `replicas are out of sync: ${behind.join(', ')}.`;
    const hint =
      'A broker is down, or copies records after a restart. Until that ends, do not stop another broker.';
    findings.push(warn(says, hint));
  }
  if (findings.length === 0 && topics.some(({ exists }) => exists)) {
    findings.push(ok('all replicas are in sync'));
  }
  return findings;
}
