/** Finds where a recall begins and ends in each partition of the retry topics. */
import { setTimeout as wait } from 'node:timers/promises';
import { isTailraceError } from '@tailrace/errors';
import type { Consumption, Kafka } from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import type { RecallRequest } from '@tailrace/records';
import type { TopicNames } from '@tailrace/topology';

/** The retry topics, and how they are read beside the group. */
export interface RecallTopics {
  readonly names: TopicNames;
  /** All retry topics that are read. */
  readonly tiers: readonly string[];
  /**
   * The retry topic that only deliveries of paused destinations wait in; undefined where they wait in another one. It may
   * hold a million of them for weeks, so it is read for recalls of resumed destinations, and not after each recovery.
   */
  readonly pauseTopic: string | undefined;
  readonly kafka: Pick<Kafka, 'ends' | 'offsetsAt'>;
  /** Has the partitions that this replica owns. */
  readonly group: Pick<Consumption, 'owned' | 'partitions' | 'unfinished'>;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

type EndsSource = Pick<RecallTopics, 'tiers' | 'kafka' | 'log'>;

/** End offsets, by retry topic and partition. */
export type Ends = ReadonlyMap<string, ReadonlyMap<number, number>>;

const retryPauseMs = 1_000;
const locatePauseMs = 100;

/** Returns where the retry topics end now. Retries until it succeeds. */
export function findEnds(deps: EndsSource): Promise<Ends> {
  return endsBy(deps, (topic) => deps.kafka.ends(topic));
}

/**
 * Returns where the records end that a request covers. Offsets beyond the present end are those of a topic that was created
 * again. Retries until it succeeds.
 */
export async function findEndsOf(
  deps: EndsSource,
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

async function endsBy({ tiers, log }: EndsSource, endsOf: Kafka['ends']): Promise<Ends> {
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
  { group }: Pick<RecallTopics, 'group'>,
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
