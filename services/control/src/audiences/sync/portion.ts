/** A portion: the changes that one transaction writes, each as an identify call and a membership record. */
import type { ExclusiveRecord, OutgoingRecord, Partitioner } from '@tailrace/kafka';
import type { TopicNames } from '@tailrace/topology';
import { identifyRecord, memberRecord, type Audience, type CurrentMember } from '../state/records.ts';

export const maxPortion = { records: 2_000, bytes: 640 * 1024 };

export interface Portion {
  readonly records: readonly ExclusiveRecord[];
  /** Changes in the portion. */
  readonly count: number;
  /** Changes that are left out. */
  readonly refused: number;
  /** How many members the audience gains by it, or loses. */
  readonly gain: number;
  /** The user of the last change, also where it is left out. */
  readonly lastUser: string;
}

interface PortionDependencies {
  readonly names: Pick<TopicNames, 'events' | 'audiences'>;
  readonly partitioners: { readonly events: Partitioner; readonly members: Partitioner };
  /** Whether the change of a user is left out: neither an identify call nor a membership. */
  readonly isRefused: (userId: string) => boolean;
}

/** Takes as many of the changes as fit into a portion, at least one. */
export function createPortion(
  { names, partitioners, isRefused }: PortionDependencies,
  audience: Audience,
  changes: readonly CurrentMember[],
): Portion {
  const now = Date.now();
  const joinedNow = new Date(now).toISOString();
  const { sendId: sentBy } = audience.sync;
  const records: ExclusiveRecord[] = [];
  const portion = { records, count: 0, refused: 0, gain: 0, lastUser: '' };
  let bytes = 0;
  for (const change of changes) {
    const { since = joinedNow } = change;
    const member = memberRecord(names.audiences, audience, change, { since, sentBy });
    if (isRefused(change.userId)) {
      portion.refused += 1;
      portion.lastUser = change.userId;
      // Of a deleted audience nothing is kept.
      if (audience.sync.kind !== 'delete') continue;
      records.push(inPartition(member, partitioners.members));
      continue;
    }
    const identify = identifyRecord(names.events, audience, change, now);
    bytes += sizeOf(identify) + sizeOf(member);
    if (portion.count > 0 && bytes > maxPortion.bytes) break;
    records.push(inPartition(identify, partitioners.events), inPartition(member, partitioners.members));
    portion.count += 1;
    portion.lastUser = change.userId;
    if (sentBy === undefined) portion.gain += change.isMember ? 1 : -1;
  }
  return portion;
}

function inPartition(record: OutgoingRecord, partitioner: Partitioner): ExclusiveRecord {
  return { ...record, partition: partitioner.partitionOf(record.key?.toString() ?? '') };
}

function sizeOf({ key, value }: OutgoingRecord): number {
  return (key?.length ?? 0) + (value?.length ?? 0);
}
