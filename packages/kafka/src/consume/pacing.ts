/**
 * How long a fetch may wait for records. A longer wait means fewer requests while a group is idle. The first record ends
 * the wait, but a resumed partition and a due heartbeat are noticed only after the fetch.
 */
import type { Fetching, PartitionAnswer } from '../patches/reading/group-fetch.ts';
import type { MemberConsumer } from '../patches/reading/membership.ts';
import type { Partition } from './partition/partition.ts';
import type { IdleTopics } from './idle-topics.ts';

/** The wait while partitions are paused that may be resumed at any time, for example because they were full. */
export const maxWaitMs = 100;
/**
 * No fetch lasts longer, because heartbeats are sent between fetches. A member learns of a rebalance from a heartbeat, and
 * what has no owner until then waits for it.
 */
export const heartbeatIntervalMs = 500;
const leastWaitMs = 5;

/** The functions of a consumption that its fetches use. They are set after the library's consumer is created. */
export interface Pacing extends Fetching {
  waitMs: () => number;
  onAnswer: (answer: PartitionAnswer) => void;
}

export function pace(
  pacing: Pacing,
  {
    consumer,
    partitions,
    mayFetch,
    idle,
  }: {
    readonly consumer: Pick<MemberConsumer, 'on' | 'events' | 'heartbeatEveryMs'>;
    readonly partitions: Iterable<Partition>;
    readonly mayFetch: (topic: string) => boolean;
    readonly idle: IdleTopics | undefined;
  },
): void {
  let lastHeartbeatAt = 0;
  for (const event of [consumer.events.HEARTBEAT, consumer.events.GROUP_JOIN]) {
    consumer.on(event, () => {
      lastHeartbeatAt = performance.now();
    });
  }
  pacing.waitMs = () => {
    for (const { topic, located, paused } of partitions) {
      if (!located || paused || !mayFetch(topic)) return maxWaitMs;
    }
    const nextHeartbeatAt = lastHeartbeatAt + consumer.heartbeatEveryMs(heartbeatIntervalMs);
    const leftMs = Math.min(nextHeartbeatAt - performance.now(), idle?.leftMs() ?? Infinity);
    return Math.ceil(Math.max(leastWaitMs, leftMs));
  };
}
