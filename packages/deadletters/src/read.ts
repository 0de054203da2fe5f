/** Reads dead letters in one pass and in bounded memory, and marks those that were replayed. */
import type { ConsumedRecord, Kafka, Scan } from '@tailrace/kafka';
import type { TopicNames } from '@tailrace/topology';
import { matches, type DeadLetterFilter } from './filter.ts';
import { ReplayedLetters } from './replayed-letters.ts';
import { readDeadLetter, type DeadLetter } from './dead-letter.ts';

export interface ReadOptions {
  readonly filter?: DeadLetterFilter | undefined;
  /** Called after each fetch with the progress in records of both topics. */
  readonly onProgress?: ((progress: Scan['progress']) => void) | undefined;
  /** Called with each record of the replay topic, before the first dead letters. */
  readonly onReplay?: ((record: ConsumedRecord) => void) | undefined;
}

export interface Reading extends AsyncIterable<readonly DeadLetter[]> {
  /** The end offset of each partition, to end another reading at the same records. */
  readonly ends: ReadonlyMap<number, number>;
}

/** All matching dead letters, in the order of each partition. Iterate once; leaving the loop closes the scans. */
export async function readDeadLetters(
  kafka: Pick<Kafka, 'scan'>,
  names: TopicNames,
  {
    filter = {},
    ends,
    onProgress,
    onReplay,
  }: ReadOptions & { readonly ends?: ReadonlyMap<number, number> | undefined },
): Promise<Reading> {
  // In parallel: each waits for its own consumer group, which takes the brokers up to some seconds.
  const [replays, dead] = await Promise.all([
    kafka.scan({ topic: names.deliveriesReplay, isGentle: true }),
    kafka.scan({ topic: names.deliveriesDead, since: filter.since, ends, isGentle: true }),
  ]);
  const report = (): void => {
    const [first, second] = [replays.progress, dead.progress];
    onProgress?.({ read: first.read + second.read, total: first.total + second.total });
  };
  return {
    ends: dead.ends,
    async *[Symbol.asyncIterator]() {
      try {
        const replayed = new ReplayedLetters();
        for await (const records of replays) {
          for (const record of records) {
            replayed.add(record);
            onReplay?.(record);
          }
          report();
        }
        for await (const records of dead) {
          const letters = records
            .map((record) => readDeadLetter(record, replayed.has(record)))
            .filter((letter) => matches(filter, letter.summary));
          if (letters.length > 0) yield letters;
          report();
        }
      } finally {
        await Promise.all([replays.close(), dead.close()]);
      }
    },
  };
}
