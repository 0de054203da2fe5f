/**
 * A publisher for work that one process at a time may do, and that must not write anything twice. It is Kafka's
 * transactional producer: opening one fences every earlier producer with the same id, and completes or aborts its open
 * transaction.
 *
 * After a failure it is not known whether the records were written. The publisher cannot be used any more. Open a new one
 * with the same id, after which nothing of the old one can be written, and read the topic to see what was written.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { TailraceError } from '@tailrace/errors';
import type { CompressionTypes, Message, Producer, RecordMetadata } from 'kafkajs';
import type { TopicOffsets } from '../admin/offsets.ts';
import { errorChain } from '../failure.ts';
import { maxRequestBytes } from './sender.ts';
import type { OutgoingRecord } from '../record.ts';
import kafkajs from '../library.ts';

export interface ExclusivePublisher {
  /**
   * Writes all of the records or none, and resolves once they can be read. Make one call at a time, and none after a call
   * that was rejected.
   *
   * @throws TailraceError `superseded` if another publisher was opened with the same id; any other error if it is not
   *   known whether the records were written
   */
  publish(records: readonly ExclusiveRecord[]): Promise<void>;
  close(): Promise<void>;
}

export interface ExclusivePublisherOptions {
  /**
   * How long Kafka keeps the open transaction of a process that has ended. Default 30 s; Kafka checks every 10 s. Readers of
   * the partitions wait for that time, or until the id is opened again.
   */
  readonly transactionTimeoutMs?: number | undefined;
}

export type ExclusiveRecord = OutgoingRecord & { readonly partition: number };

/** Requests of this size or more are compressed. */
const compressFromBytes = 16 * 1024;
const closeTimeoutMs = 2_000;
/** After which a commit counts, although it cannot be read: its broker is away. */
const readableWithinMs = 5_000;
const readablePauseMs = 5;

/** @param endsOf by partition of a topic, the offset after the last record that can be read */
export async function openExclusivePublisher(
  producer: Producer,
  endsOf: (topic: string) => Promise<readonly TopicOffsets[]>,
  classify: (error: unknown) => unknown,
): Promise<ExclusivePublisher> {
  const classified = (error: unknown): unknown =>
    isOfType(error, fenced) ? superseded(error) : classify(error);
  const close = async (): Promise<void> => {
    const disconnected = producer.disconnect().catch(() => undefined);
    await Promise.race([disconnected, wait(closeTimeoutMs, undefined, { ref: false })]);
  };

  let transaction: Awaited<ReturnType<Producer['transaction']>> | undefined;
  try {
    await producer.connect();
    // Fences the other producers. The library does so when the first transaction begins.
    transaction = await producer.transaction();
  } catch (error) {
    await close();
    // Temporary after the first transaction of a cluster; permanent if the topic for transactions cannot be created.
    if (errorChain(error).some(({ name }) => name === 'KafkaJSGroupCoordinatorNotFound')) {
      throw new TailraceError('transactions-unavailable', undefined, { cause: error as Error });
    }
    throw classified(error);
  }

  /**
   * Kafka answers a commit before it has marked the partitions as committed, which takes milliseconds: 15 of 3,000 commits
   * could not be read directly afterwards on a busy machine.
   */
  const untilReadable = async (written: readonly RecordMetadata[]): Promise<void> => {
    const deadline = performance.now() + readableWithinMs;
    for (const [topic, parts] of Map.groupBy(written, ({ topicName }) => topicName)) {
      const isReadable = (ends: readonly TopicOffsets[]): boolean =>
        parts.every(({ partition, baseOffset = '-1' }) =>
          ends.some((end) => end.partition === partition && Number(end.high) > Number(baseOffset)),
        );
      while (!isReadable(await endsOf(topic)) && performance.now() < deadline) await wait(readablePauseMs);
    }
  };

  return {
    async publish(records) {
      try {
        transaction ??= await producer.transaction();
        const all: RecordMetadata[] = [];
        // One request at a time: when one broker fails, the library repeats the requests to other brokers that have no
        // answer yet, under new sequence numbers.
        for (const request of requestsOf(records)) {
          const written = await transaction.sendBatch({
            acks: -1,
            compression: compressionOf(request),
            topicMessages: [{ topic: request[0]?.topic ?? '', messages: request.map(messageOf) }],
          });
          // The library drops records for a partition that it does not know, without an error.
          if (written.length === 0) throw partitionMissing(request[0]);
          all.push(...written);
        }
        await transaction.commit().catch((error: unknown) => {
          throw isOfType(error, beingFenced) ? superseded(error) : error;
        });
        transaction = undefined;
        // They are committed, also if these requests fail.
        const tooLong = wait(readableWithinMs, undefined, { ref: false });
        await Promise.race([untilReadable(all).catch(() => undefined), tooLong]);
      } catch (error) {
        throw classified(error);
      }
    },
    close,
  };
}

function partitionMissing({ topic, partition }: Partial<ExclusiveRecord> = {}): TailraceError {
  const message = `The topic ${topic ?? ''} has no partition ${partition ?? ''}. Run \`npx tailrace doctor\`, which names topics that differ.`;
  return new TailraceError('partition-missing', message);
}

/** Also returned after an outage that was longer than the transaction timeout. */
const fenced = ['INVALID_PRODUCER_EPOCH', 'INVALID_PRODUCER_ID_MAPPING', 'PRODUCER_FENCED'];
/**
 * Returned for a commit while the broker is fencing this producer. CONCURRENT_TRANSACTIONS can have no other cause, because
 * the producer has one transaction at a time. UNKNOWN is returned in the moment in which the broker raises the epoch.
 */
const beingFenced = ['CONCURRENT_TRANSACTIONS', 'UNKNOWN'];

/** Splits the records into requests, each for one partition and at most `maxRequestBytes`. */
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
