/** Suppressions: the router refuses the calls of suppressed users until the suppression is lifted. */
import type { ExclusivePublisher, ExclusiveRecord } from '@tailrace/kafka';
import { encodeSuppressed, suppressedKey, type SuppressedUser } from '@tailrace/suppressions';
import type { TopicNames } from '@tailrace/topology';
import type { SuppressionStore } from './store.ts';

/** Runs `work` as the only writer of the topic, also among instances. */
export type WriteAlone = <T>(
  work: (session: { readonly publisher: Pick<ExclusivePublisher, 'publish'> }) => Promise<T>,
) => Promise<T>;

/** Records of one transaction. */
const portion = 500;

export type UserSuppressions = ReturnType<typeof createSuppressions>;

export function createSuppressions(
  { suppressions: topic }: Pick<TopicNames, 'suppressions'>,
  store: SuppressionStore,
  write: WriteAlone,
) {
  return {
    /**
     * Resolves once all of the users are suppressed, with the number of those who were not before.
     *
     * @throws TailraceError `too-many-suppressions`, `kafka-unavailable`: then the same request may be sent again
     */
    suppress: (userIds: readonly string[]): Promise<number> => {
      const wanted = [...new Set(userIds)];
      let added = 0;
      return write(async ({ publisher }) => {
        const missing = wanted.filter((userId) => store.users.suppressed(userId) === undefined);
        store.requireCapacity(missing.length);
        const since = new Date().toISOString();
        for (let from = 0; from < missing.length; from += portion) {
          const users = missing.slice(from, from + portion);
          await publisher.publish(
            users.map((userId): ExclusiveRecord => {
              return { ...encodeSuppressed(topic, { kind: 'suppressed', userId, since }), partition: 0 };
            }),
          );
          added += users.length;
        }
        await store.refresh();
        return added;
      });
    },
    /** Resolves with whether the user was suppressed. Throws as `suppress`. */
    lift: (userId: string): Promise<boolean> =>
      write(async ({ publisher }) => {
        if (!store.users.suppressed(userId)) return false;
        await publisher.publish([{ topic, key: suppressedKey(userId), value: null, partition: 0 }]);
        await store.refresh();
        return true;
      }),
    // Another instance may have answered the change.
    async find(userId: string): Promise<SuppressedUser | undefined> {
      await store.refresh();
      return store.users.suppressed(userId);
    },
    /** At most `limit` suppressed users after the id `after`, in the order of the bytes of their ids. */
    async list(after: string | undefined, limit: number): Promise<SuppressedUser[]> {
      await store.refresh();
      return store.users.suppressedAfter(after, limit);
    },
  };
}
