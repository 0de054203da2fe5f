/** Lifts marks of deleted users: on request, or because they have no effect any more. Then requests are forgotten too. */
import type { ExclusivePublisher, OutgoingRecord } from '@tailrace/kafka';
import { deletedKey, type DeletedUser } from '@tailrace/suppressions';
import type { TopicNames } from '@tailrace/topology';
import type { SuppressionStore } from '../suppressions/store.ts';
import type { DeletionView } from './view.ts';
import { liftedRecord } from './marks.ts';

/**
 * Longer than any topic keeps a record that was written before a deletion: `events` and `deliveries` for 7 days, dead letters for
 * 30, replays for 45, each with up to 7 more for its segment, one after another, and a margin.
 */
const markedForMs = 180 * 86_400_000;
const portion = 500;

interface LiftOptions {
  readonly publisher: Pick<ExclusivePublisher, 'publish'>;
  readonly names: Pick<TopicNames, 'suppressions'>;
  readonly store: Pick<SuppressionStore, 'users' | 'refresh'>;
}

/** Lifts all marks of a request. */
export async function liftRequest(options: LiftOptions, requestId: string): Promise<void> {
  const { users } = options.store;
  await liftAll(
    options,
    () => users.ofRequest(requestId, portion),
    (user) => liftedRecord(options.names.suppressions, user, requestId),
  );
}

interface RemovalOptions extends LiftOptions {
  readonly names: Pick<TopicNames, 'suppressions' | 'deletions'>;
  readonly view: Pick<DeletionView, 'writtenBefore' | 'refresh'>;
}

/** Removes the marks that are so old that no record of the users from before is left, and requests of that age. Resolves with the numbers. */
export async function removeOld(options: RemovalOptions, now: number) {
  const { publisher, names, store, view } = options;
  const requests = view.writtenBefore(now - markedForMs);
  for (let from = 0; from < requests.length; from += portion) {
    const ids = requests.slice(from, from + portion);
    await publisher.publish(ids.map((key) => ({ topic: names.deletions, key, value: null, partition: 0 })));
  }
  await view.refresh();
  const marks = await liftAll(
    options,
    () => store.users.deletedBefore(now - markedForMs, portion),
    ({ scope, userId }) => ({ topic: names.suppressions, key: deletedKey(scope, userId), value: null }),
  );
  return { marks, requests: requests.length };
}

/** Whether there is something to remove. */
export function hasOld({ store, view }: Pick<RemovalOptions, 'store' | 'view'>, now: number): boolean {
  const time = now - markedForMs;
  return store.users.deletedBefore(time, 1).length > 0 || view.writtenBefore(time).length > 0;
}

async function liftAll(
  { publisher, store }: LiftOptions,
  next: () => readonly DeletedUser[],
  recordOf: (user: DeletedUser) => OutgoingRecord,
): Promise<number> {
  let lifted = 0;
  for (let users = next(); users.length > 0; users = next()) {
    await publisher.publish(users.map((user) => ({ ...recordOf(user), partition: 0 })));
    await store.refresh();
    lifted += users.length;
  }
  return lifted;
}
