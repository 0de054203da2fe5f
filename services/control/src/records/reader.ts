/** Reads single records, of which only the topics have the body. */
import type { ConsumedRecord, Kafka } from '@tailrace/kafka';
import { Places, type Asker } from '../access/places.ts';

export type RecordReader = ReturnType<typeof createRecordReader>;

export function createRecordReader(kafka: Pick<Kafka, 'scan'>) {
  /** Each opens a connection. */
  const places = new Places('records');
  return {
    /** The record at an offset; undefined once it has expired. @throws TailraceError `too-many-at-once`, `kafka-unavailable` */
    async at(
      asker: Asker,
      { topic, partition, offset }: Pick<ConsumedRecord, 'topic' | 'partition' | 'offset'>,
    ): Promise<ConsumedRecord | undefined> {
      using _place = places.take(asker);
      const starts = new Map([[partition, offset]]);
      const ends = new Map([[partition, offset + 1]]);
      for await (const records of await kafka.scan({ topic, starts, ends })) {
        const found = records.find((record) => record.offset === offset);
        if (found) return found;
      }
      return undefined;
    },
  };
}
