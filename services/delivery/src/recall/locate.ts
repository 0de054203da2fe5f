/** Finds where a recall begins and ends in each partition of the retry topics. */
import { setTimeout as wait } from 'node:timers/promises';
import { isTailraceError } from '@tailrace/errors';
import type { Consumption, Kafka } from '@tailrace/kafka';
import type { Log } from '@tailrace/service';

export interface LocateDependencies {
  /** All retry topics that are read. */
  readonly tiers: readonly string[];
  readonly offsetsAt: Kafka['offsetsAt'];
  readonly owned: Consumption['owned'];
  /** The partitions that this replica owns. */
  readonly assigned: () => readonly { readonly topic: string; readonly partition: number }[];
  readonly log: Pick<Log, 'warn'>;
}

/** End offsets, by retry topic and partition. */
export type Ends = ReadonlyMap<string, ReadonlyMap<number, number>>;

const retryPauseMs = 1_000;
const locatePauseMs = 100;

/** Returns where the records end that were written until a time, in milliseconds since the epoch. Retries until it succeeds. */
export async function findEnds({ tiers, offsetsAt, log }: LocateDependencies, until: number): Promise<Ends> {
  for (;;) {
    try {
      return new Map(
        await Promise.all(tiers.map(async (topic) => [topic, await offsetsAt(topic, until + 1)] as const)),
      );
    } catch (error) {
      if (!isTailraceError(error)) throw error;
      log.warn({ err: error }, 'finding the end of retry topics failed, retrying');
      await wait(retryPauseMs, undefined, { ref: false });
    }
  }
}

/** Waits until the group knows its position in these partitions. Returns those that are still `wanted`. */
export async function whenLocated(
  { assigned, owned }: LocateDependencies,
  wanted: () => readonly number[],
): Promise<readonly number[]> {
  for (;;) {
    const numbers = wanted();
    const isLocated = assigned()
      .filter(({ partition }) => numbers.includes(partition))
      .every(({ topic, partition }) => owned(topic, partition) !== undefined);
    if (isLocated) return numbers;
    await wait(locatePauseMs, undefined, { ref: false });
  }
}
