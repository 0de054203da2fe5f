/** The suppressed and the deleted users of this instance: the view by which calls are judged, and the index with their ids. */
import { TailraceError } from '@tailrace/errors';
import type { Kafka, KafkaLog } from '@tailrace/kafka';
import {
  allSources,
  KeyNumbers,
  maxSuppressions,
  openSuppressions,
  type SuppressionRecord,
  type Suppressions,
} from '@tailrace/suppressions';
import type { TopicNames } from '@tailrace/topology';
import { openUserIndex, type UserIndex } from './user-index.ts';

export interface SuppressionStore extends Suppressions {
  /** How many records this instance has read. */
  readonly revision: number;
  /** Whether a deletion of the user was read after this revision, whatever the clocks say. Only for deletions since the start. */
  wasDeletedSince(revision: number, sourceId: string, userId: string): boolean;
  readonly users: Omit<UserIndex, 'put' | 'close'>;
  /** @throws TailraceError `too-many-suppressions` where `more` users would be too many */
  requireCapacity(more: number): void;
}

export interface StoreOptions {
  readonly kafka: Pick<Kafka, 'follow'>;
  readonly names: Pick<TopicNames, 'suppressions'>;
  /** For the index. */
  readonly folder: string;
  readonly log: Pick<KafkaLog, 'warn'>;
  /** Default: `maxSuppressions`. */
  readonly maxUsers?: number | undefined;
}

/** Resolves once the topic is read to its end. */
export async function openSuppressionStore(options: StoreOptions): Promise<SuppressionStore> {
  const { kafka, names, folder, log, maxUsers = maxSuppressions } = options;
  const users = openUserIndex(folder);
  let revision = 0;
  /** The revisions of deletions since the start: 34 MB for the most that there may be. */
  const deletedAt = new KeyNumbers();
  let isOpen = false;
  const onRecord = (record: SuppressionRecord): void => {
    users.put(record);
    revision += 1;
    if (!isOpen || record.kind !== 'deleted') return;
    const key = `${record.scope}/${record.userId}`;
    if (record.entry) deletedAt.set(key, revision);
    else deletedAt.delete(key);
  };
  let view: Suppressions;
  try {
    view = await openSuppressions({ kafka, topic: names.suppressions, log, onRecord });
  } catch (error) {
    users.close();
    throw error;
  }
  isOpen = true;
  return {
    get revision() {
      return revision;
    },
    wasDeletedSince: (since, sourceId, userId) =>
      [allSources, sourceId].some((scope) => (deletedAt.get(`${scope}/${userId}`)?.[0] ?? 0) > since),
    get size() {
      return view.size;
    },
    get deletions() {
      return view.deletions;
    },
    users,
    isSuppressed: (userId) => view.isSuppressed(userId),
    deletionsOf: (sourceId, userId) => view.deletionsOf(sourceId, userId),
    deletedUntil: (sourceId, userId) => view.deletedUntil(sourceId, userId),
    requireCapacity(more) {
      if (view.size + more <= maxUsers) return;
      const message =
        `There are ${view.size} suppressed users and deletions, and ${more} more would exceed the limit of ${maxUsers}. ` +
        'Lift suppressions or deletions that are no longer needed.';
      throw new TailraceError('too-many-suppressions', message);
    },
    refresh: () => view.refresh(),
    async close() {
      await view.close();
      users.close();
    },
  };
}
