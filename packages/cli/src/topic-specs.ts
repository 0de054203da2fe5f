/** The topics that Tailrace needs, as the settings and the cluster say. */
import type { Kafka, TopicSpec } from '@tailrace/kafka';
import { replicationFor, topicNames, topicSpecs } from '@tailrace/topics';
import type { TopicSettings } from './settings.ts';

/** With no word on copies: for looking whether they exist, and what they hold. */
export function specsOf({ prefix, partitions, retryScheduleMs }: TopicSettings): TopicSpec[] {
  return topicSpecs(topicNames(prefix), { partitions, retryScheduleMs });
}

/** With as many copies as TAILRACE_REPLICATION says, or as there are brokers for. */
export async function replicatedSpecsOf(kafka: Kafka, settings: TopicSettings): Promise<TopicSpec[]> {
  const { prefix, partitions, retryScheduleMs, replication: asked } = settings;
  const { brokers } = await kafka.inspectCluster();
  const topics = await kafka.describeTopics(specsOf(settings).map(({ name }) => name));
  const factors = Array.from(topics.values(), ({ replicationFactor }) => replicationFactor);
  const replication = replicationFor(brokers.length, asked, factors);
  return topicSpecs(topicNames(prefix), { partitions, retryScheduleMs, replication });
}
