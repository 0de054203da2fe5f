/**
 * Defects: the library names the partitions in a fixed order, and Kafka returns a batch above the size limit only for the first partition
 * that has records, so large batches of the others are not read as long as the first has records. And its encoder allocates half
 * a kilobyte for each partition.
 *
 * Upstream: no issue found.
 *
 * Patch: each request (version 11) begins with another partition, and is encoded in one buffer.
 */
import { replacing } from '../apply.ts';
import { encoderOf, type MakeEncoded } from '../encoder.ts';

export interface FetchRequest {
  readonly replicaId?: number;
  readonly maxWaitTime: number;
  readonly minBytes: number;
  readonly maxBytes: number;
  readonly isolationLevel?: number;
  readonly topics: readonly FetchTopic[];
  readonly rackId?: string;
}

export interface FetchTopic {
  readonly topic: string;
  readonly partitions: readonly FetchPartition[];
}

export interface FetchPartition {
  readonly partition: number;
  readonly fetchOffset: string;
  readonly maxBytes: number;
}

export const fetchRequest = replacing<MakeEncoded<FetchRequest>>(
  'protocol/requests/fetch/v11/request',
  (original) => (options) => ({
    ...original(options),
    encode: () => Promise.resolve(encoderOf(encodeFetchRequest(options))),
  }),
);

const consumer = -1;
const readCommitted = 1;
const fixedBytes = 35;
const partitionBytes = 28;

/** Begins at a random place. With a fixed rotation, some pairs of topic and partition would never come first. */
function rotated<T>(items: readonly T[]): readonly T[] {
  const first = Math.floor(Math.random() * items.length);
  return first === 0 ? items : [...items.slice(first), ...items.slice(0, first)];
}

function encodeFetchRequest(request: FetchRequest): Buffer {
  const { topics, rackId = '' } = request;
  let size = fixedBytes + Buffer.byteLength(rackId);
  for (const { topic, partitions } of topics) {
    size += 6 + Buffer.byteLength(topic) + partitionBytes * partitions.length;
  }
  const bytes = Buffer.allocUnsafe(size);
  let at = bytes.writeInt32BE(request.replicaId ?? consumer, 0);
  at = bytes.writeInt32BE(request.maxWaitTime, at);
  at = bytes.writeInt32BE(request.minBytes, at);
  at = bytes.writeInt32BE(request.maxBytes, at);
  at = bytes.writeInt8(request.isolationLevel ?? readCommitted, at);
  at = bytes.writeInt32BE(0, at); // No fetch session,
  at = bytes.writeInt32BE(-1, at); // and none is wanted.
  at = bytes.writeInt32BE(topics.length, at);
  for (const { topic, partitions } of rotated(topics)) {
    at = writeString(bytes, topic, at);
    at = bytes.writeInt32BE(partitions.length, at);
    for (const { partition, fetchOffset, maxBytes } of rotated(partitions)) {
      at = bytes.writeInt32BE(partition, at);
      at = bytes.writeInt32BE(-1, at); // The leader's epoch is not known.
      at = bytes.writeBigInt64BE(BigInt(fetchOffset), at);
      at = bytes.writeBigInt64BE(-1n, at); // For followers only.
      at = bytes.writeInt32BE(maxBytes, at);
    }
  }
  at = bytes.writeInt32BE(0, at); // Nothing leaves the session.
  writeString(bytes, rackId, at);
  return bytes;
}

function writeString(bytes: Buffer, text: string, at: number): number {
  const length = bytes.write(text, at + 2);
  bytes.writeInt16BE(length, at);
  return at + 2 + length;
}
