/**
 * Leaves the partitions of idle topics out of most fetches. A fetch request names every partition, and the broker answers
 * for every partition, so idle topics make each record of the other topics more expensive. In a group of eight topics, of
 * which one was busy, this cost more than everything else together.
 *
 * Idle partitions are paused while other topics are busy. Every `everyMs` they are included in one fetch to each broker.
 * Partitions with new records stay included until they are read to the end; the others are paused again. While no topic is
 * busy, all partitions are included: the fetch then waits, and the first record of any partition ends it.
 */
import type { Consumer } from 'kafkajs';
import type { Partition } from './partition/partition.ts';
import type { Session } from '../session.ts';

export interface IdleTopicsOptions {
  readonly consumer: Pick<Consumer, 'on' | 'events'>;
  readonly session: Pick<Session, 'pause' | 'resume'>;
  /** All partitions that this member owns. */
  readonly partitions: Iterable<Partition>;
  readonly topics: readonly string[];
  readonly everyMs: number;
  /** Whether the topic may be fetched. */
  readonly mayFetch: (topic: string) => boolean;
}

export interface IdleTopics {
  /** The time until the partitions are included again; Infinity while they are included. */
  leftMs(): number;
  end(): void;
}

export function startIdleTopics({
  consumer,
  session,
  partitions,
  topics,
  everyMs,
  mayFetch,
}: IdleTopicsOptions): IdleTopics {
  const idleTopics = new Set(topics);
  /** By broker, the number of fetches that have begun since the partitions were included. */
  const begun = new Map<number, number>();
  /** Whether records of other topics have arrived since then. */
  let isBusy = false;
  let pausedUntil: number | undefined;
  let timer: NodeJS.Timeout | undefined;

  const idlePartitions = (matches: (partition: Partition) => boolean): Partition[] =>
    [...partitions].filter((partition) => idleTopics.has(partition.topic) && matches(partition));

  const include = (): void => {
    for (const node of begun.keys()) begun.set(node, 0);
    isBusy = false;
    pausedUntil = undefined;
    session.resume(idlePartitions(({ topic, located, paused }) => located && !paused && mayFetch(topic)));
  };

  consumer.on(consumer.events.START_BATCH_PROCESS, ({ payload: { topic } }) => {
    if (!idleTopics.has(topic)) isBusy = true;
  });
  // When the second fetch to a broker begins, the records of the first have been received. It leaves out what is paused now.
  consumer.on(consumer.events.FETCH_START, ({ payload: { nodeId } }) => {
    begun.set(nodeId, (begun.get(nodeId) ?? 0) + 1);
    if (!isBusy || pausedUntil !== undefined || [...begun.values()].some((count) => count < 2)) return;
    session.pause(idlePartitions(({ located, next, end }) => located && next >= end));
    pausedUntil = performance.now() + everyMs;
    timer = setTimeout(include, everyMs).unref();
  });
  // The brokers may have changed.
  consumer.on(consumer.events.GROUP_JOIN, () => begun.clear());

  return {
    leftMs: () => (pausedUntil === undefined ? Infinity : pausedUntil - performance.now()),
    end() {
      clearTimeout(timer);
    },
  };
}
