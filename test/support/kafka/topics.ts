/** Topics for one test, and their records. */
import { randomBytes } from 'node:crypto';
import type { ConsumedRecord, Kafka } from '@tailrace/kafka';
import { topicNames, topicSpecs, type TopicNames } from '@tailrace/topics';
import { collect, type Collected } from '@tailrace/testing';

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

export interface WatchedTopic extends Collected<ConsumedRecord>, AsyncDisposable {
  /** Resolves when all records of the topic at the time of the call are among the items. */
  refresh(): Promise<void>;
}

/** Follows a topic from its beginning. */
export async function watchTopic(kafka: Kafka, topic: string): Promise<WatchedTopic> {
  const records = collect<ConsumedRecord>(topic, showRecord);
  const follower = await kafka.follow({ topic, onRecord: records.add });
  return {
    ...records,
    refresh: () => follower.refresh(),
    [Symbol.asyncDispose]: () => follower.close(),
  };
}

/** A header as text; undefined if the record has none of this name. */
export function headerOf(record: ConsumedRecord, name: string): string | undefined {
  return record.headers[name]?.toString();
}

function showRecord({ partition, offset, key, value, headers }: ConsumedRecord): string {
  const shown = Object.entries(headers).map(([name, header]) => `${name}=${header.toString()}`);
  const body = value?.toString().slice(0, 200) ?? 'null';
  return `${partition}:${offset.toString()} ${key?.toString() ?? 'null'} ${shown.join(' ')} ${body}`;
}
