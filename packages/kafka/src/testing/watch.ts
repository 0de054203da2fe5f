/** The records of a topic, as a test awaits them. */
import { collect, type Collected } from '@tailrace/testing';
import type { Kafka } from '../kafka.ts';
import type { ConsumedRecord } from '../record.ts';

export interface WatchedTopic extends Collected<ConsumedRecord>, AsyncDisposable {
  /** Resolves when all records of the topic at the time of the call are among the items. */
  refresh(): Promise<void>;
}

/** Follows a topic from its beginning. */
export async function watchTopic(
  kafka: Kafka,
  topic: string,
  isWanted: (record: ConsumedRecord) => boolean = () => true,
): Promise<WatchedTopic> {
  const records = collect<ConsumedRecord>(topic, showRecord);
  const follower = await kafka.follow({
    topic,
    onRecord(record) {
      if (isWanted(record)) records.add(record);
    },
  });
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
