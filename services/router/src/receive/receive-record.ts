/**
 * Receives the records of `events` and keeps the order of each key of a source. A record whose source is unknown waits for a read of
 * the configuration, and one whose schema is unknown for the first response of the registry; later records of its order wait
 * behind it, others do not. Where the registry does not provide the schema, the record moves to the waiting queue.
 */
import { isTailraceError } from '@tailrace/errors';
import type { TrackedRecord } from '@tailrace/kafka';
import type { FrameReader } from '@tailrace/registry';
import { isTooLarge, type Rejection } from '@tailrace/routing';
import { createKeyOrder } from './key-order.ts';
import type { RouterMetrics } from '../metrics.ts';
import type { OrderOf } from '../order.ts';
import type { ProcessRecord } from '../process-record.ts';
import { leaveUnfinished, type Rejecter } from '../reject-record.ts';
import { withOwnBytes } from '../record-content.ts';
import type { WaitingQueue } from '../waiting/queue.ts';

export interface ReceiverDependencies {
  readonly frames: Pick<FrameReader, 'fetchSchema'>;
  readonly orderOf: OrderOf;
  readonly processRecord: ProcessRecord;
  readonly rejecter: Pick<Rejecter, 'reject'>;
  readonly waiting: Pick<WaitingQueue, 'hasKeyOf' | 'enqueue'>;
  readonly metrics: Pick<RouterMetrics, 'revoked'>;
}

/** Returns a function that receives the records of `events`, in the order of their partitions. */
export function createReceiver(deps: ReceiverDependencies): (record: TrackedRecord) => void {
  const { frames, orderOf, processRecord, rejecter, waiting, metrics } = deps;
  const inKeyOrder = createKeyOrder();

  const receive = (record: TrackedRecord): Promise<void> | undefined => {
    if (record.revoked) {
      metrics.revoked.inc();
      return undefined;
    }
    // A record that is too large is rejected in any case, and might not fit into the waiting topic.
    if (waiting.hasKeyOf(record) && !isTooLarge(record)) {
      enqueue(record);
      return undefined;
    }
    const processing = processRecord(record);
    if (processing.outcome === 'needs-schema') {
      return processWithSchema(withOwnBytes(record).record, processing.schemaId);
    }
    return processing.outcome === 'waiting' ? untilProcessed(processing.until) : undefined;
  };

  const processWithSchema = async (record: TrackedRecord, schemaId: number): Promise<void> => {
    const isFetched = await frames.fetchSchema(schemaId);
    if (record.revoked) {
      metrics.revoked.inc();
      return;
    }
    if (!isFetched) {
      enqueue(record);
      return;
    }
    const processing = processRecord(record);
    if (processing.outcome === 'needs-schema') await processWithSchema(record, processing.schemaId);
    if (processing.outcome === 'waiting') await untilProcessed(processing.until);
  };

  const untilProcessed = async (until: Promise<'processed' | 'revoked'>): Promise<void> => {
    if ((await until) === 'revoked') metrics.revoked.inc();
  };

  const enqueue = (record: TrackedRecord): void => {
    waiting
      .enqueue(record)
      .then(() => record.done())
      .catch((failure: unknown) => {
        if (isTailraceError(failure, 'record-too-large')) rejecter.reject(record, tooLargeToWait);
        else leaveUnfinished(failure);
      });
  };

  return (record) => {
    const order = orderOf(record);
    const name = order && `${record.partition}/${order.source}/${order.key.toString('latin1')}`;
    inKeyOrder(name, () => receive(record));
  };
}

const tooLargeToWait: Rejection = {
  code: 'record-too-large',
  message:
    'The record cannot wait for its schema, because it is larger than Kafka accepts in the topic events.waiting. ' +
    'Raise max.message.bytes of that topic, or send less.',
};
