/**
 * A publisher for work that one process at a time may do, and that must not write anything twice. It is Kafka's
 * transactional producer: whoever opens one under an id shuts out every earlier holder of that id, and decides
 * what that one left unfinished, before it writes a record itself.
 *
 * After a failure nobody knows what was written. There is no repeating then: the publisher is of no further use,
 * and a new one of the same id makes sure that nothing of it can still arrive. What lies in the topic after that
 * is what was written.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { TailraceError } from '@tailrace/errors';
import type { CompressionTypes, Message, Producer } from 'kafkajs';
import { errorChain } from '../failure.ts';
import { maxRequestBytes } from './lane.ts';
import type { OutgoingRecord } from '../record.ts';
import kafkajs from '../wire/library.ts';

export interface ExclusivePublisher {
  /**
   * Writes all of the records or none; resolves once they can be read. Each names its partition. One call at a
   * time, and none after one that was rejected.
   *
   * @throws TailraceError `superseded` where another has been opened under the same id; others where it is not
   *   known whether they were written
   */
  publish(records: readonly ExclusiveRecord[]): Promise<void>;
  close(): Promise<void>;
}

export interface ExclusivePublisherOptions {
  /**
   * How long Kafka lets a transaction stay open whose process is gone (default 30 s, and up to 10 s until it looks).
   * Readers of the partitions wait at it for so long, or until the id is opened again.
   */
  readonly transactionTimeoutMs?: number | undefined;
}

export type ExclusiveRecord = OutgoingRecord & { readonly partition: number };

/** Compressed from this size on. */
const compressFromBytes = 16 * 1024;
const closeTimeoutMs = 2_000;

export async function openExclusivePublisher(
  producer: Producer,
  classify: (error: unknown) => unknown,
): Promise<ExclusivePublisher> {
  const classified = (error: unknown): unknown =>
    isOfType(error, shutOut) ? superseded(error) : classify(error);
  const close = async (): Promise<void> => {
    const disconnected = producer.disconnect().catch(() => undefined);
    await Promise.race([disconnected, wait(closeTimeoutMs, undefined, { ref: false })]);
  };

  let transaction: Awaited<ReturnType<Producer['transaction']>> | undefined;
  try {
    await producer.connect();
    // Shuts the others out. In the library that comes with the first transaction, which begins with its first record.
    transaction = await producer.transaction();
  } catch (error) {
    await close();
    // So it is for a moment after the first transaction of a cluster, and for good where their topic cannot be made.
    if (errorChain(error).some(({ name }) => name === 'KafkaJSGroupCoordinatorNotFound')) {
      throw new TailraceError('transactions-unavailable', undefined, { cause: error as Error });
    }
    throw classified(error);
  }

  return {
    async publish(records) {
      try {
        transaction ??= await producer.transaction();
        // One request after the other: the library repeats what is still on its way to one broker when
        // another broker fails, under new sequence numbers.
        for (const together of requestsOf(records)) {
          const written = await transaction.sendBatch({
            acks: -1,
            compression: compressionOf(together),
            topicMessages: [{ topic: together[0]?.topic ?? '', messages: together.map(messageOf) }],
          });
          // The library passes over records of a partition that it does not know.
          if (written.length === 0) throw partitionMissing(together[0]);
        }
        await transaction.commit().catch((error: unknown) => {
          throw isOfType(error, beingShutOut) ? superseded(error) : error;
        });
        transaction = undefined;
      } catch (error) {
        throw classified(error);
      }
    },
    close,
  };
}

function partitionMissing({ topic, partition }: Partial<ExclusiveRecord> = {}): TailraceError {
  const message = `The topic ${topic ?? ''} has no partition ${partition ?? ''}. Run \`npx tailrace doctor\`.`;
  return new TailraceError('partition-missing', message);
}

/** The broker also says so after an outage that outlasted the transaction; whoever opens a new one finds out. */
const shutOut = ['INVALID_PRODUCER_EPOCH', 'INVALID_PRODUCER_ID_MAPPING', 'PRODUCER_FENCED'];
/**
 * What a commit is told while the broker is busy shutting this one out: it has no other transaction that could be in
 * the way, and in the moment of raising the epoch the broker takes its own state for an illegal one.
 */
const beingShutOut = ['CONCURRENT_TRANSACTIONS', 'UNKNOWN'];

/** Records of one partition each, and no more than a broker takes at once. */
function requestsOf(records: readonly ExclusiveRecord[]): ExclusiveRecord[][] {
  const requests: ExclusiveRecord[][] = [];
  for (const [, ofPartition] of Map.groupBy(records, ({ topic, partition }) => `${topic}/${partition}`)) {
    let bytes = Infinity;
    for (const record of ofPartition) {
      const size = Buffer.byteLength(record.key ?? '') + Buffer.byteLength(record.value ?? '');
      if (bytes + size > maxRequestBytes) {
        requests.push([]);
        bytes = 0;
      }
      requests.at(-1)?.push(record);
      bytes += size;
    }
  }
  return requests;
}

function isOfType(error: unknown, types: readonly string[]): boolean {
  return errorChain(error).some(({ type }) => type !== undefined && types.includes(type));
}

function superseded(error: unknown): TailraceError {
  return new TailraceError('superseded', undefined, { cause: error as Error });
}

function compressionOf(records: readonly ExclusiveRecord[]): CompressionTypes {
  let bytes = 0;
  for (const { value } of records) bytes += value?.length ?? 0;
  return bytes >= compressFromBytes ? kafkajs.CompressionTypes.ZSTD : kafkajs.CompressionTypes.None;
}

function messageOf({ key, value, headers, partition }: ExclusiveRecord): Message {
  return { key, value, partition, ...(headers && { headers }) } as Message;
}
