/**
 * Reads the current members of an audience from `audiences`, in each partition up to a mark that the sync has written. The
 * high watermark would not do: a consumer reads a partition only up to the first open transaction, which may belong to
 * another audience and precede records of an earlier sync of this one.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Kafka } from '@tailrace/kafka';
import type { DeletedUsers } from '@tailrace/suppressions';
import type { TopicNames } from '@tailrace/topology';
import type { Membership } from './membership.ts';
import {
  createMembershipReader,
  currentMember,
  type Audience,
  type AudienceKey,
  type CurrentMember,
} from '../state/records.ts';

/** When a mark is not readable yet because of an open transaction. */
const retryReadMs = 200;

export interface CurrentMembersReader {
  /**
   * Adds the members to `membership`. A later call continues where the previous one ended.
   *
   * @param onBatch called after each batch of records
   * @returns false where the signal ended the reading early
   */
  readUntil(
    mark: string,
    partitions: number,
    membership: Pick<Membership, 'addCurrent'>,
    onBatch: () => Promise<void>,
  ): Promise<boolean>;
}

/** Adds the members that are readable now. A sync that runs meanwhile may change them. */
export async function addCurrentMembers(
  kafka: Pick<Kafka, 'scan'>,
  { audiences: topic }: Pick<TopicNames, 'audiences'>,
  {
    audience,
    sendId,
    users,
    membership,
    signal,
  }: {
    readonly audience: AudienceKey;
    /** Of a sync of the kind `send`. */
    readonly sendId: string | undefined;
    readonly users: Pick<DeletedUsers, 'deletedUntil'>;
    readonly membership: Pick<Membership, 'addCurrent'>;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const read = createMembershipReader(audience, users);
  for await (const records of await kafka.scan({ topic })) {
    if (signal.aborted) return;
    membership.addCurrent(
      records.flatMap((record) => {
        const found = read(record);
        return found?.kind === 'member' ? [currentMember(found, sendId)] : [];
      }),
    );
  }
}

interface CurrentMembersDependencies {
  readonly kafka: Pick<Kafka, 'scan'>;
  readonly names: Pick<TopicNames, 'audiences'>;
  readonly users: Pick<DeletedUsers, 'deletedUntil'>;
}

export function createCurrentMembersReader(
  { kafka, names: { audiences: topic }, users }: CurrentMembersDependencies,
  audience: Audience,
  signal: AbortSignal,
): CurrentMembersReader {
  const isStopping = (): boolean => signal.aborted;
  const { sendId } = audience.sync;
  const read = createMembershipReader(audience, users);
  /** By partition: the next offset to read. */
  const nextOffsets = new Map<number, number>();
  return {
    async readUntil(mark, partitions, membership, onBatch) {
      const unread = new Set(Array.from({ length: partitions }, (_, partition) => partition));
      for (let isFirst = true; unread.size > 0; isFirst = false) {
        if (!isFirst) await wait(retryReadMs, undefined, { signal }).catch(() => undefined);
        if (isStopping()) return false;
        const starts = new Map(
          Array.from(unread, (partition) => [partition, nextOffsets.get(partition) ?? 0]),
        );
        for await (const records of await kafka.scan({ topic, starts })) {
          const current: CurrentMember[] = [];
          for (const record of records) {
            nextOffsets.set(record.partition, record.offset + 1);
            const found = read(record);
            if (found?.kind === 'member') current.push(currentMember(found, sendId));
            else if (found?.mark === mark) unread.delete(record.partition);
          }
          membership.addCurrent(current);
          if (isStopping()) break;
          await onBatch();
        }
      }
      return true;
    },
  };
}
