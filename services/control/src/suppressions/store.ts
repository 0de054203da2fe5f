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
import { UserIndex } from './user-index.ts';

export type SuppressionStore = Awaited<ReturnType<typeof openSuppressionStore>>;

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
export async function openSuppressionStore(options: StoreOptions) {
  const { kafka, names, folder, log, maxUsers = maxSuppressions } = options;
  const users = new UserIndex(folder);
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
    /** How many records this instance has read. */
    get revision(): number {
      return revision;
    },
    /** Whether a deletion of the user was read after this revision, whatever the clocks say. Only for deletions since the start. */
    wasDeletedSince: (since: number, sourceId: string, userId: string): boolean =>
      [allSources, sourceId].some((scope) => (deletedAt.get(`${scope}/${userId}`)?.[0] ?? 0) > since),
    users: users as Omit<UserIndex, 'put' | 'close'>,
    isSuppressed: (userId: string) => view.isSuppressed(userId),
    get deletions(): number {
      return view.deletions;
    },
    deletionsOf: (sourceId: string, userId: string) => view.deletionsOf(sourceId, userId),
    deletedUntil: (sourceId: string, userId: string) => view.deletedUntil(sourceId, userId),
    /** @throws TailraceError `too-many-suppressions` where `more` users would be too many */
    requireCapacity(more: number): void {
      if (view.size + more <= maxUsers) return;
      const message =
        `There are ${view.size} suppressed users and deletions, and ${more} more would exceed the limit of ${maxUsers}. ` +
        'Lift suppressions or deletions that are no longer needed.';
      throw new TailraceError('too-many-suppressions', message);
    },
    refresh: () => view.refresh(),
    async close(): Promise<void> {
      await view.close();
      users.close();
    },
  };
}
