/** Loads the keys that wait in partitions that are new to this router, before it receives the first record of their keys. */
import { isInside, type ConsumedRecord, type Kafka, type NewPartition } from '@tailrace/kafka';
import { waitingPlaceOf } from '@tailrace/records';
import type { KeyHash } from './keys.ts';
import type { WaitingPartition } from './waiting-partition.ts';

/**
 * Reads the topic from the committed offsets to its end, and adds the keys to `partitions`.
 *
 * @returns how many records wait; undefined where `signal` was aborted
 * @throws TailraceError `kafka-unavailable`, `topic-missing`
 */
export async function loadKeys(
  kafka: Pick<Kafka, 'scan'>,
  topic: string,
  newPartitions: readonly NewPartition[],
  {
    partitions,
    keyOf,
    signal,
  }: {
    readonly partitions: ReadonlyMap<number, WaitingPartition>;
    readonly keyOf: (record: ConsumedRecord) => KeyHash | undefined;
    readonly signal: AbortSignal;
  },
): Promise<number | undefined> {
  const finished = new Map(newPartitions.map(({ partition, finished }) => [partition, finished]));
  const starts = new Map(newPartitions.map(({ partition, next }) => [partition, next]));
  let waiting = 0;
  for await (const records of await kafka.scan({ topic, starts })) {
    if (signal.aborted) return undefined;
    for (const record of records) {
      const position = waitingPlaceOf(record);
      const ranges = finished.get(record.partition) ?? [];
      if (!position || isInside(record.offset, ranges)) continue;
      partitions.get(record.partition)?.addFound(keyOf(record), position.offset);
      waiting += 1;
    }
  }
  return signal.aborted ? undefined : waiting;
}
