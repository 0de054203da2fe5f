/** Finds where a recall begins and ends in each partition of the retry topics. */
import { setTimeout as wait } from 'node:timers/promises';
import { isTailraceError } from '@tailrace/errors';
import type { Kafka, OwnedPartition } from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import type { RecallRequest } from '@tailrace/topics';

export interface LocateDependencies {
  /** All retry topics that are read. */
  readonly tiers: readonly string[];
  readonly kafka: Pick<Kafka, 'ends' | 'offsetsAt'>;
  /** The partitions that this replica owns. */
  readonly group: {
    readonly partitions: readonly { readonly topic: string; readonly partition: number }[];
    owned(topic: string, partition: number): OwnedPartition | undefined;
  };
  readonly log: Pick<Log, 'warn'>;
}

/** End offsets, by retry topic and partition. */
export type Ends = ReadonlyMap<string, ReadonlyMap<number, number>>;

const retryPauseMs = 1_000;
const locatePauseMs = 100;

/** Returns where the retry topics end now. Retries until it succeeds. */
export function findEnds(deps: LocateDependencies): Promise<Ends> {
  return endsBy(deps, (topic) => deps.kafka.ends(topic));
}

/**
 * Returns where the records end that a request covers. Offsets beyond the present end are those of a topic that was created
 * again. Retries until it succeeds.
 */
export async function findEndsOf(
  deps: LocateDependencies,
  { ends: wanted, requestedAt }: Pick<RecallRequest, 'ends' | 'requestedAt'>,
): Promise<Ends> {
  if (!wanted) return endsBy(deps, (topic) => deps.kafka.offsetsAt(topic, Date.parse(requestedAt) + 1));
  return endsBy(deps, async (topic) => {
    const present = await deps.kafka.ends(topic);
    return new Map(
      Array.from(present, ([number, end]) => [number, Math.min(end, wanted[topic]?.[number] ?? 0)]),
    );
  });
}

async function endsBy({ tiers, log }: LocateDependencies, endsOf: Kafka['ends']): Promise<Ends> {
  for (;;) {
    try {
      return new Map(await Promise.all(tiers.map(async (topic) => [topic, await endsOf(topic)] as const)));
    } catch (error) {
      if (!isTailraceError(error)) throw error;
      log.warn({ err: error }, 'finding the end of retry topics failed, retrying');
      await wait(retryPauseMs, undefined, { ref: false });
    }
  }
}

/** Waits until the group knows its position in these partitions. Returns those that are still `wanted`. */
export async function whenLocated(
  { group }: Pick<LocateDependencies, 'group'>,
  wanted: () => readonly number[],
): Promise<readonly number[]> {
  for (;;) {
    const numbers = wanted();
    const isLocated = group.partitions
      .filter(({ partition }) => numbers.includes(partition))
      .every(({ topic, partition }) => group.owned(topic, partition) !== undefined);
    if (isLocated) return numbers;
    await wait(locatePauseMs, undefined, { ref: false });
  }
}
