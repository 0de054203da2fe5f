/** The client library's producer on the in-memory cluster. */
import { zstdCompressSync } from 'node:zlib';
import type { Producer, ProducerBatch, Transaction } from 'kafkajs';
import { headerEntries } from '../record.ts';
import type { WireMessage } from '../patches/writing/produce-request.ts';
import type { PartitionResult } from '../patches/writing/produce-response.ts';
import type { MemoryBroker } from './broker.ts';
import { connectionError, protocolError } from './errors.ts';

/** The records of one partition in a request. */
interface Part {
  readonly topic: string;
  readonly partition: number;
  readonly messages: readonly WireMessage[];
}

/** Kafka's default for `max.message.bytes`. */
const defaultMaxBatchBytes = 1_048_588;
const batchHeaderBytes = 61;
/** How often the library sends a request again whose answer is lost. */
const retries = 5;

export function createProducer(cluster: MemoryBroker, transactionalId?: string): Producer {
  let epoch: number | undefined;

  /** One turn of the event loop, so that records published meanwhile go with the next request. */
  const answered = async (): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve));
    for (let lost = 0; ; lost += 1) {
      await cluster.acknowledging;
      if (cluster.loseProduceAnswers <= 0) return;
      cluster.loseProduceAnswers -= 1;
      if (lost === retries) throw connectionError();
    }
  };

  const producer: Pick<Producer, 'connect' | 'disconnect' | 'sendBatch' | 'transaction'> = {
    connect() {
      return cluster.isStopped ? Promise.reject(connectionError()) : Promise.resolve();
    },
    disconnect: () => Promise.resolve(),

    async sendBatch(batch) {
      cluster.checkReachable();
      await cluster.writing((batch.topicMessages ?? []).map(({ topic }) => topic));
      const parts = partsOf(cluster, batch);
      const results = parts.map((part): PartitionResult => {
        const error = errorOf(cluster, part);
        if (error === undefined) write(cluster, part);
        return { topic: part.topic, partition: part.partition, error };
      });
      cluster.notify();
      await answered();
      return checkResults(results);
    },

    async transaction() {
      const id = transactionalId ?? '';
      cluster.checkReachable();
      if (epoch === undefined) cluster.producerEpochs.set(id, (cluster.producerEpochs.get(id) ?? 0) + 1);
      epoch ??= cluster.producerEpochs.get(id);
      const checkEpoch = (): void => {
        cluster.checkReachable();
        if (cluster.producerEpochs.get(id) !== epoch) throw protocolError('PRODUCER_FENCED');
      };
      checkEpoch();
      const pending: Part[] = [];
      const transaction: Pick<Transaction, 'sendBatch' | 'commit' | 'abort'> = {
        async sendBatch(batch) {
          checkEpoch();
          const parts = partsOf(cluster, batch);
          await answered();
          checkEpoch();
          const results = parts.map((part) => ({ ...part, error: errorOf(cluster, part) }));
          const written = checkResults(results);
          pending.push(...parts);
          return written;
        },
        async commit() {
          checkEpoch();
          for (const part of pending) write(cluster, part);
          const logs = new Set(pending.map(({ topic, partition }) => cluster.partition(topic, partition)));
          for (const log of logs) log?.appendInvisible(1);
          cluster.notify();
          await new Promise((resolve) => setImmediate(resolve));
          if (cluster.loseCommitAnswers <= 0) return;
          cluster.loseCommitAnswers -= 1;
          throw connectionError();
        },
        abort: () => Promise.resolve(),
      };
      return Promise.resolve(transaction as Transaction);
    },
  };
  return producer as Producer;
}

/** Records for partitions that the topic does not have are dropped without an error, as the library does. */
function partsOf(cluster: MemoryBroker, { topicMessages = [] }: ProducerBatch): Part[] {
  return topicMessages.flatMap(({ topic, messages }) => {
    const { partitions } = cluster.topic(topic);
    const byPartition = Map.groupBy(messages as WireMessage[], ({ partition }) => partition ?? 0);
    return Array.from(byPartition, ([partition, part]) => ({ topic, partition, messages: part })).filter(
      ({ partition }) => partition < partitions.length,
    );
  });
}

function errorOf(cluster: MemoryBroker, { topic, messages }: Part): string | undefined {
  if (cluster.refusesClock) return 'INVALID_TIMESTAMP';
  const limit = Number(cluster.topic(topic).config['max.message.bytes'] ?? defaultMaxBatchBytes);
  const bytes = messages.reduce((sum, message) => sum + sizeOf(message), batchHeaderBytes);
  if (bytes <= limit) return undefined;
  const contents = messages.flatMap(({ key, value }) => [Buffer.from(key ?? ''), Buffer.from(value ?? '')]);
  // Only requests of 64 KB or more are compressed; see publish/sender.ts.
  const isCompressed = bytes >= 64 * 1024;
  return isCompressed && zstdCompressSync(Buffer.concat(contents)).length <= limit
    ? undefined
    : 'MESSAGE_TOO_LARGE';
}

function sizeOf({ key, value, headers }: WireMessage): number {
  let bytes = 8 + Buffer.byteLength(key ?? '') + Buffer.byteLength(value ?? '');
  for (const [name, header] of headerEntries(headers)) {
    bytes += 2 + Buffer.byteLength(name) + Buffer.byteLength(header ?? '');
  }
  return bytes;
}

function write(cluster: MemoryBroker, { topic, partition, messages }: Part): void {
  for (const message of messages) cluster.partition(topic, partition)?.append(message);
}

/** @throws Error with the result of each partition, as patches/writing/produce-response.ts makes the library throw it */
function checkResults(results: readonly PartitionResult[]): Awaited<ReturnType<Producer['sendBatch']>> {
  const failed = results.find(({ error }) => error !== undefined);
  if (failed) throw Object.assign(protocolError(failed.error ?? ''), { results });
  return results.map(({ topic, partition }) => ({ topicName: topic, partition, errorCode: 0 }));
}
