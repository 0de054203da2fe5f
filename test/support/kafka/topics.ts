/** Topics for one test, and their records. */
import { randomBytes } from 'node:crypto';
import type { ConsumedRecord, Kafka } from '@tailrace/kafka';
import { topicNames, topicSpecs, type TopicNames } from '@tailrace/topology';

export { headerOf, watchTopic, type WatchedTopic } from '@tailrace/kafka/testing';

/** A unique topic prefix. */
export function uniquePrefix(): string {
  return `t${randomBytes(5).toString('hex')}.`;
}

/** Creates every topic of Tailrace under `prefix`. */
export async function createTopics(
  kafka: Kafka,
  prefix: string,
  options: { readonly partitions: number; readonly retryScheduleMs: readonly number[] },
): Promise<TopicNames> {
  const names = topicNames(prefix);
  await kafka.ensureTopics(topicSpecs(names, options));
  return names;
}

/** All records of the topic at the time of the call, in the order of each partition. */
export async function readAll(kafka: Kafka, topic: string): Promise<ConsumedRecord[]> {
  const records: ConsumedRecord[] = [];
  const follower = await kafka.follow({ topic, onRecord: (record) => records.push(record) });
  await follower.close();
  return records;
}
