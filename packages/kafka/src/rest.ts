/**
 * Leaves partitions that seldom have something new out of most fetches. The library's fetches name every partition,
 * and are answered for every partition, so that topics in which nothing happens make each record of the others dearer:
 * on a group of eight topics, of which one was busy, by more than all else together.
 *
 * Such partitions rest. Every so often they are let into one fetch of each broker; those that turn out to have more
 * stay in until all of it is read, and the others rest again.
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

/** Begins at once; the function returned ends it. */
export function startRest({ consumer, session, partitions, topics, everyMs, mayFetch }: RestOptions) {
  const resting = new Set(topics);
  /** Of each broker, how many fetches have begun since the partitions were let in. */
  const begun = new Map<number, number>();
  let letIn = true;
  let timer: NodeJS.Timeout | undefined;

  const those = (isOne: (partition: Partition) => boolean): Partition[] =>
    [...partitions].filter((partition) => resting.has(partition.topic) && isOne(partition));

  const wake = (): void => {
    for (const node of begun.keys()) begun.set(node, 0);
    letIn = true;
    session.resume(those(({ topic, located, paused }) => located && !paused && mayFetch(topic)));
  };

  // The second fetch begins when what came with the first is handed out, and leaves out what is paused by now.
  consumer.on(consumer.events.FETCH_START, ({ payload: { nodeId } }) => {
    begun.set(nodeId, (begun.get(nodeId) ?? 0) + 1);
    if (!letIn || [...begun.values()].some((count) => count < 2)) return;
    letIn = false;
    session.pause(those(({ located, next, end }) => located && next >= end));
    timer = setTimeout(wake, everyMs).unref();
  });
  // Brokers come and go.
  consumer.on(consumer.events.GROUP_JOIN, () => {
    begun.clear();
  });

  return (): void => {
    clearTimeout(timer);
  };
}
