/** The topics that Tailrace needs, by the settings and the size of the cluster. */
import type { Kafka, TopicSpec } from '@tailrace/kafka';
import { replicationFor, topicNames, topicSpecs } from '@tailrace/topology';
import type { TopicSettings } from '../settings.ts';

/** Without a number of copies, to inspect existing topics. */
export function requiredTopics({ prefix, partitions, retryScheduleMs }: TopicSettings): TopicSpec[] {
  return topicSpecs(topicNames(prefix), { partitions, retryScheduleMs });
}

/** With the number of copies of TAILRACE_REPLICATION, or as many as the cluster allows. */
export async function replicatedTopics(kafka: Kafka, settings: TopicSettings): Promise<TopicSpec[]> {
  const { prefix, partitions, retryScheduleMs, replication: requested } = settings;
  const { brokers } = await kafka.inspectCluster();
  const topics = await kafka.describeTopics(requiredTopics(settings).map(({ name }) => name));
  const factors = Array.from(topics.values(), ({ replicationFactor }) => replicationFactor);
  const replication = replicationFor(brokers.length, requested, factors);
  return topicSpecs(topicNames(prefix), { partitions, retryScheduleMs, replication });
}
