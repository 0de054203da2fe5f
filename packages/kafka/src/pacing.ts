/**
 * How long a fetch may wait for records: the longer, the fewer requests an idle group costs. The first record ends the
 * wait; what the library notices only after a fetch must not wait for it.
 */
import type { Consumer } from 'kafkajs';
import type { Partition } from './partition.ts';
import type { Rest } from './rest.ts';

/** While partitions are left out that may be resumed at any time, such as those that are full. */
export const maxWaitMs = 100;
/**
 * Heartbeats are sent between fetches, so no fetch lasts longer. A member hears by them that the group shares out its
 * partitions again, and all others wait for that.
 */
export const heartbeatIntervalMs = 500;
const leastWaitMs = 5;

/** Asked at each fetch. */
export interface Pacing {
  waitMs: () => number;
}

export function pace(
  pacing: Pacing,
  {
    consumer,
    partitions,
    mayFetch,
    rest,
  }: {
    readonly consumer: Pick<Consumer, 'on' | 'events'>;
    readonly partitions: Iterable<Partition>;
    readonly mayFetch: (topic: string) => boolean;
    readonly rest: Rest | undefined;
  },
): void {
  let nextHeartbeatAt = 0;
  const heartbeatIsLater = (): void => {
    nextHeartbeatAt = performance.now() + heartbeatIntervalMs;
  };
  consumer.on(consumer.events.HEARTBEAT, heartbeatIsLater);
  consumer.on(consumer.events.GROUP_JOIN, heartbeatIsLater);
  pacing.waitMs = () => {
    for (const { topic, located, paused } of partitions) {
      if (!located || paused || !mayFetch(topic)) return maxWaitMs;
    }
    const leftMs = Math.min(nextHeartbeatAt - performance.now(), rest?.leftMs() ?? Infinity);
    return Math.ceil(Math.max(leastWaitMs, leftMs));
  };
}
