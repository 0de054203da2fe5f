/**
 * The first and end offsets of a topic's partitions, and the committed offsets of a group. These calls are retried for 10 s
 * while leaders move. A leader moves when its broker restarts, and the leader of a new partition may not know it yet; both
 * take moments. The library fails immediately, and continues to ask the old leader for up to five minutes.
 *
 * When another call of the same client has replaced the library's metadata of the topic, it throws a TypeError, or answers
 * as if the topic had no partitions. A group would then begin again with records that it has finished.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { SeekEntry } from 'kafkajs';
import { decodeProgress, type OffsetRange } from '../consume/partition/progress.ts';
import { errorChain } from '../failure.ts';
import type { Admin } from '../patches/reading/admin-requests.ts';

export type TopicOffsets = SeekEntry & { readonly high: string; readonly low: string };
export type CommittedOffsets = Awaited<ReturnType<Admin['fetchOffsets']>>[number];

const retryForMs = 10_000;
const pauseMs = 50;

export function topicOffsets(admin: Admin, topic: string): Promise<TopicOffsets[]> {
  return retryWhileLeadersMove(admin, async () => checkKnown(await admin.fetchTopicOffsets(topic), topic));
}

/** By partition, the offset after the last record, also where that is in an open transaction. */
export function topicEnds(admin: Admin, topic: string): Promise<SeekEntry[]> {
  return retryWhileLeadersMove(admin, async () => {
    const [found] = await admin.readEnds([topic]);
    return checkKnown(found?.partitions ?? [], topic);
  });
}

/** By topic, the group's committed offset of each partition; -1 if there is none. */
export function committedOffsets(
  admin: Admin,
  groupId: string,
  topics: readonly string[],
): Promise<CommittedOffsets[]> {
  return retryWhileLeadersMove(admin, async () => {
    const found = await admin.fetchOffsets({ groupId, topics: [...topics] });
    for (const topic of topics)
      checkKnown(found.find((entry) => entry.topic === topic)?.partitions ?? [], topic);
    return found;
  });
}

/** By topic and partition, the offsets that the group has finished, in order: those below its committed offset, and the ranges above. */
export async function finishedOffsets(
  admin: Admin,
  groupId: string,
  topics: readonly string[],
): Promise<Map<string, Map<number, readonly OffsetRange[]>>> {
  const found = await committedOffsets(admin, groupId, topics);
  return new Map(
    found.map(({ topic, partitions }) => [
      topic,
      new Map(
        partitions.map(({ partition, offset, metadata }) => [partition, rangesOf(Number(offset), metadata)]),
      ),
    ]),
  );
}

function rangesOf(committed: number, metadata: string | null): readonly OffsetRange[] {
  return committed < 0 ? [] : [{ from: 0, to: committed }, ...decodeProgress(committed, metadata)];
}

/** Every topic has partitions. If the answer has none, the library does not know them. */
function checkKnown<T>(partitions: T[], topic: string): T[] {
  if (partitions.length === 0) throw new PartitionsUnknown(`the partitions of ${topic} are not known`);
  return partitions;
}

/** Has a name like the library's errors, so that it is classified as one. */
class PartitionsUnknown extends Error {
  override readonly name = 'KafkaJSPartitionsUnknown';
}

/**
 * By partition, the offset of the first record at `since` or later, in milliseconds since the epoch. No record is older, and
 * Kafka gives negative numbers other meanings: -1 is the end of the partition.
 */
export function topicOffsetsSince(admin: Admin, topic: string, since: number): Promise<SeekEntry[]> {
  return retryWhileLeadersMove(admin, async () =>
    checkKnown(await admin.fetchTopicOffsetsByTimestamp(topic, Math.max(0, since)), topic),
  );
}

async function retryWhileLeadersMove<T>(admin: Admin, request: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + retryForMs;
  for (;;) {
    try {
      return await request();
    } catch (error) {
      if (performance.now() > deadline || !isAboutLeader(error)) throw error;
    }
    await wait(pauseMs);
    // This call makes the library refresh its metadata. Its result does not matter.
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
