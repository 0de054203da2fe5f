/**
 * Leaves partitions that seldom have something new out of most fetches. The library's fetches name every partition,
 * and are answered for every partition, so that topics in which nothing happens make each record of the others dearer:
 * on a group of eight topics, of which one was busy, by more than all else together.
 *
 * Such partitions rest while the others are busy. Every so often they are let into one fetch of each broker; those that
 * turn out to have more stay in until all of it is read, and the others rest again. While nothing comes, all are in: a
 * fetch then lasts long, and the first record of any partition ends it.
 */
import type { Consumer } from 'kafkajs';
import type { Partition } from './partition.ts';
import type { Session } from './session.ts';

export interface RestOptions {
  readonly consumer: Pick<Consumer, 'on' | 'events'>;
  readonly session: Pick<Session, 'pause' | 'resume'>;
  /** All that this member owns. */
  readonly partitions: Iterable<Partition>;
  readonly topics: readonly string[];
  readonly everyMs: number;
  /** Whether the topic may be fetched now. */
  readonly mayFetch: (topic: string) => boolean;
}

export interface Rest {
  /** How long until the partitions are let in again; Infinity while they are in. */
  leftMs(): number;
  end(): void;
}

/** Begins immediately. */
export function startRest({ consumer, session, partitions, topics, everyMs, mayFetch }: RestOptions): Rest {
  const resting = new Set(topics);
  /** Of each broker, how many fetches have begun since the partitions were let in. */
  const begun = new Map<number, number>();
  /** Whether anything came in the other topics since then. */
  let isBusy = false;
  let restsUntil: number | undefined;
  let timer: NodeJS.Timeout | undefined;

  const those = (isOne: (partition: Partition) => boolean): Partition[] =>
    [...partitions].filter((partition) => resting.has(partition.topic) && isOne(partition));

  const wake = (): void => {
    for (const node of begun.keys()) begun.set(node, 0);
    isBusy = false;
    restsUntil = undefined;
    session.resume(those(({ topic, located, paused }) => located && !paused && mayFetch(topic)));
  };

  consumer.on(consumer.events.START_BATCH_PROCESS, ({ payload: { topic } }) => {
    if (!resting.has(topic)) isBusy = true;
  });
  // The second fetch begins when what came with the first is handed out, and leaves out what is paused by now.
  consumer.on(consumer.events.FETCH_START, ({ payload: { nodeId } }) => {
    begun.set(nodeId, (begun.get(nodeId) ?? 0) + 1);
    if (!isBusy || restsUntil !== undefined || [...begun.values()].some((count) => count < 2)) return;
    session.pause(those(({ located, next, end }) => located && next >= end));
    restsUntil = performance.now() + everyMs;
    timer = setTimeout(wake, everyMs).unref();
  });
  // Brokers come and go.
  consumer.on(consumer.events.GROUP_JOIN, () => {
    begun.clear();
  });

  return {
    leftMs: () => (restsUntil === undefined ? Infinity : restsUntil - performance.now()),
    end() {
      clearTimeout(timer);
    },
  };
}
