/**
 * Ends deliveries in the history that have ended without a record. The delivery group commits the record of a delivery when it was
 * delivered, or when its next record is acknowledged; the record of the attempt may be lost, if the process is killed. So a
 * delivery has ended if its latest record is finished by the group, and everything that was written before that is read.
 *
 * Only offsets are compared. A late record, or a replay, replaces the status.
 */
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { isTailraceError } from '@tailrace/errors';
import type { Kafka, Span } from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import type { TopicNames } from '@tailrace/topology';

export interface ReconcileDependencies {
  readonly kafka: Pick<Kafka, 'finished' | 'listTopics'>;
  readonly names: Pick<TopicNames, 'retryTierDelayMs'>;
  /** The consumer group of delivery. */
  readonly group: string;
  /** The topics of the group that are followed. */
  readonly topics: readonly string[];
  /** Resolves when all is read that the topics hold now. */
  readonly refresh: () => Promise<void>;
  /** Ends some of the pending deliveries in a range; returns where to continue. */
  readonly end: (topic: string, partition: number, range: Span) => number | undefined;
  readonly log: Pick<Log, 'warn'>;
  readonly signal: AbortSignal;
}

const everyMs = 5_000;
/** A record of an attempt may be written a moment after its delivery was committed. */
const graceMs = 5_000;

/** Resolves when it is stopped. Where Kafka cannot be asked, deliveries are ended later. */
export async function reconcileRegularly(dependencies: ReconcileDependencies): Promise<void> {
  const { log, signal } = dependencies;
  const isStopped = (): boolean => signal.aborted;
  let failures = 0;
  while (!isStopped()) {
    try {
      await reconcile(dependencies);
      failures = 0;
    } catch (error) {
      if (isStopped()) return;
      if (!isTailraceError(error)) throw error;
      failures += 1;
      if (failures === 1) log.warn({ err: error }, 'finding ended deliveries failed, retrying');
    }
    await wait(everyMs, undefined, { signal }).catch(() => undefined);
  }
}

async function reconcile(dependencies: ReconcileDependencies): Promise<void> {
  const { kafka, names, group, topics, refresh, end, signal } = dependencies;
  const finished = await kafka.finished(group, topics);
  await wait(graceMs, undefined, { signal });
  const isUnread = (topic: string): boolean =>
    names.retryTierDelayMs(topic) !== undefined && !topics.includes(topic);
  // The latest record of a delivery may be in a retry topic that was created since the start.
  if ((await kafka.listTopics()).some(isUnread)) return;
  await refresh();
  for (const [topic, partitions] of finished) {
    for (const [partition, ranges] of partitions) {
      for (const { from, to } of ranges) {
        let next: number | undefined = from;
        while (next !== undefined && !signal.aborted) {
          next = end(topic, partition, { from: next, to });
          await nextTurn();
        }
      }
    }
  }
}
