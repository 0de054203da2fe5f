/** Checks that the topics exist and match the settings. */
import type { Kafka } from '@tailrace/kafka';
import {
  partitionGroups,
  pauseTierMs,
  tierDelaysMs,
  topicNames,
  unequalPartitions,
} from '@tailrace/topology';
import { findingsAbout, type Finding } from './finding.ts';
import type { TopicSettings } from '../settings.ts';
import { countOf } from '../terminal/table.ts';
import { requiredTopics } from '../topics/required-topics.ts';

const { ok, warn, fail } = findingsAbout('topics');

export async function checkTopics(
  kafka: Kafka,
  settings: TopicSettings,
): Promise<{ readonly findings: Finding[]; readonly missing: boolean }> {
  const names = topicNames(settings.prefix);
  const reports = await kafka.inspectTopics(requiredTopics(settings));
  const missing = reports.filter(({ outcome }) => outcome === 'missing').map(({ name }) => name);
  const existing = await kafka.listTopics();
  const tiers = new Set(tierDelaysMs([...settings.retryScheduleMs, pauseTierMs]));
  const otherTiers = existing.filter((topic) => {
    const delayMs = names.retryTierDelayMs(topic);
    return delayMs !== undefined && !tiers.has(delayMs);
  });

  const topics = await kafka.describeTopics([...reports.map(({ name }) => name), ...otherTiers]);
  const counts = new Map(Array.from(topics, ([topic, { partitions }]) => [topic, partitions]));
  const findings: Finding[] = reports.flatMap(({ name, differences }) =>
    differences
      // Unequal partitions are a finding of their own, below.
      .filter((difference) => !difference.includes(' --only '))
      .map((difference) => differenceOf(name, difference)),
  );
  for (const group of partitionGroups) {
    const unequal = unequalPartitions(names, counts, group);
    if (!unequal) continue;
    const [says = '', hint = ''] = unequal.message.split(/(?<=\.) (?=Make )/);
    const more = group === 'deliveries' ? ' Delivery does not start.' : '';
    findings.push(fail(says + more, hint));
  }
  if (missing.length > 0) {
    const says = `${countOf(missing.length, 'topic')} missing: ${missing.join(', ')}.`;
    findings.push(
      fail(says, 'Create them with npx tailrace topics apply; in Kubernetes, helm upgrade does.'),
    );
  }
  if (otherTiers.length > 0) {
    findings.push(
      warn(
        `${otherTiers.join(', ')}: not in the retry schedule of these settings.`,
        'Set TAILRACE_RETRY_SCHEDULE as in the services. Delivery reads the retry topics of an earlier schedule as long as they exist: delete one only when the group of delivery has no lag in it.',
      ),
    );
  }
  if (findings.length === 0) findings.push(ok(`${countOf(reports.length, 'topic')}, all as configured`));
  return { findings, missing: missing.length > 0 };
}

function differenceOf(topic: string, difference: string): Finding {
  const [says = '', hint] = difference.split(/: (.*)/s, 2);
  return warn(`${topic}: ${says}.`, hint && `${hint.charAt(0).toUpperCase()}${hint.slice(1)}.`);
}
