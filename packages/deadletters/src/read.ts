/** Dead letters as they are read: in one pass, in bounded memory, each with whether it has been replayed. */
import type { Kafka, Scan } from '@tailrace/kafka';
import type { TopicNames } from '@tailrace/topics';
import { matches, type DeadLetterFilter } from './filter.ts';
import { ReplayedLetters } from './replayed-letters.ts';
import { readDeadLetter, type DeadLetter } from './dead-letter.ts';

export interface ReadOptions {
  readonly filter?: DeadLetterFilter | undefined;
  /** Told how far it is, in records of both topics, after each portion. */
  readonly onProgress?: ((progress: Scan['progress']) => void) | undefined;
}

export interface Reading extends AsyncIterable<readonly DeadLetter[]> {
  /** Where it ends, to read as far another time: what has died since is not seen. */
  readonly ends: ReadonlyMap<number, number>;
}

/** Everything that matches, in the order of each partition. Iterate it once; leaving the loop ends it. */
export async function readDeadLetters(
  kafka: Pick<Kafka, 'scan'>,
  names: TopicNames,
  {
    filter = {},
    ends,
    onProgress,
  }: ReadOptions & { readonly ends?: ReadonlyMap<number, number> | undefined },
): Promise<Reading> {
  // Both at once, because each waits for a group of its own to form, which takes brokers up to some seconds.
  const [replays, dead] = await Promise.all([
    kafka.scan({ topic: names.deliveriesReplay }),
    kafka.scan({ topic: names.deliveriesDead, since: filter.since, ends }),
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
          for (const record of records) replayed.enter(record);
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
