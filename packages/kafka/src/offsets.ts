/**
 * Where a topic's partitions begin and end. The leader of a partition moves when its broker restarts, and that of a
 * new one may not know yet that it leads; both are over in moments. The library gives up at once instead, and asks
 * the broker that it believes to lead for as long as five minutes. It also trips, with a TypeError, where what it knew
 * of the topic was replaced by another call of the same client.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Admin, SeekEntry } from 'kafkajs';
import { errorChain } from './failure.ts';

export type TopicOffsets = SeekEntry & { readonly high: string; readonly low: string };

const patienceMs = 10_000;
const pauseMs = 50;

export function topicOffsets(admin: Admin, topic: string): Promise<TopicOffsets[]> {
  return whileLeadersMove(admin, () => admin.fetchTopicOffsets(topic));
}

/** The first offsets whose records are not older than `since`, in milliseconds since the epoch. */
export function topicOffsetsSince(admin: Admin, topic: string, since: number): Promise<SeekEntry[]> {
  return whileLeadersMove(admin, () => admin.fetchTopicOffsetsByTimestamp(topic, since));
}

async function whileLeadersMove<T>(admin: Admin, ask: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (performance.now() > deadline || !isAboutLeader(error)) throw error;
    }
    await wait(pauseMs);
    // Of all it can be asked, this is what makes it look for the leaders again; its answer, or failure, is no matter.
    await admin.listGroups().catch(() => undefined);
  }
}

function isAboutLeader(error: unknown): boolean {
  return errorChain(error).some(
    ({ name, type }) =>
      name === 'KafkaJSBrokerNotFound' ||
      name === 'TypeError' ||
      type === 'NOT_LEADER_FOR_PARTITION' ||
      type === 'LEADER_NOT_AVAILABLE' ||
      type === 'REPLICA_NOT_AVAILABLE' ||
      type === 'FENCED_LEADER_EPOCH' ||
      type === 'UNKNOWN_LEADER_EPOCH',
  );
}
