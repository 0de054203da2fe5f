/** What the router does about a batch of `events` that cannot be read: one record in `events.rejected` says so. */
import { isTailraceError } from '@tailrace/errors';
import type { Publisher, UnreadableBatch, Work } from '@tailrace/kafka';
import type { TopicNames } from '@tailrace/topics';
import type { RouterObserver } from './observe.ts';
import { rejectedBatch } from './rejected.ts';

/** The batch is finished once Kafka has the record about it. */
export function createBatchRejecter(dependencies: {
  readonly names: Pick<TopicNames, 'eventsRejected'>;
  readonly publisher: Pick<Publisher, 'publish'>;
  readonly observer: Pick<RouterObserver, 'rejected'>;
}): (batch: UnreadableBatch, work: Work) => void {
  const { names, publisher, observer } = dependencies;
  return (batch, work) => {
    publisher
      .publish(rejectedBatch(names.eventsRejected, batch))
      .then(() => {
        observer.rejected('unreadable-batch');
        work.done();
      })
      .catch((failure: unknown) => {
        // While stopping, it is left for the next owner of the partition.
        if (!isTailraceError(failure, 'shutting-down')) throw failure;
      });
  };
}
