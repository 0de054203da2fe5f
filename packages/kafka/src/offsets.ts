/**
 * Where a topic's partitions begin and end, and how far a group is. The leader of a partition moves when its broker
 * restarts, and that of a new one may not know yet that it leads; both are over in moments. The library gives up
 * immediately instead, and asks the broker that it believes to lead for as long as five minutes. Where what it knew of
 * the topic was replaced by another call of the same client, it throws a TypeError, or answers as if the topic had no
 * partitions: a group would then begin again with what it has finished.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Admin, SeekEntry } from 'kafkajs';
import { errorChain } from './failure.ts';

export type TopicOffsets = SeekEntry & { readonly high: string; readonly low: string };
export type CommittedOffsets = Awaited<ReturnType<Admin['fetchOffsets']>>[number];

const patienceMs = 10_000;
const pauseMs = 50;

export function topicOffsets(admin: Admin, topic: string): Promise<TopicOffsets[]> {
  return whileLeadersMove(admin, async () => allKnown(await admin.fetchTopicOffsets(topic), topic));
}

/** Of each topic, the group's offset of each partition; -1 where there is none. */
export function committedOffsets(
  admin: Admin,
  groupId: string,
  topics: readonly string[],
): Promise<CommittedOffsets[]> {
  return whileLeadersMove(admin, async () => {
    const found = await admin.fetchOffsets({ groupId, topics: [...topics] });
    for (const topic of topics)
      allKnown(found.find((entry) => entry.topic === topic)?.partitions ?? [], topic);
    return found;
  });
}

/** Every topic has partitions; where there is none, the library does not know them. */
function allKnown<T>(partitions: T[], topic: string): T[] {
  if (partitions.length === 0) throw new PartitionsUnknown(`the partitions of ${topic} are not known`);
  return partitions;
}

/** Named like the library's errors, whose fault it is. */
class PartitionsUnknown extends Error {
  override readonly name = 'KafkaJSPartitionsUnknown';
}

/** The first offsets whose records are not older than `since`, in milliseconds since the epoch. */
export function topicOffsetsSince(admin: Admin, topic: string, since: number): Promise<SeekEntry[]> {
  return whileLeadersMove(admin, async () =>
    allKnown(await admin.fetchTopicOffsetsByTimestamp(topic, since), topic),
  );
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
      name === 'KafkaJSPartitionsUnknown' ||
      name === 'KafkaJSBrokerNotFound' ||
      name === 'TypeError' ||
      type === 'NOT_LEADER_FOR_PARTITION' ||
      type === 'LEADER_NOT_AVAILABLE' ||
      type === 'REPLICA_NOT_AVAILABLE' ||
      type === 'FENCED_LEADER_EPOCH' ||
      type === 'UNKNOWN_LEADER_EPOCH',
  );
}
