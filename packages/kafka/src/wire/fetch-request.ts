/** Encodes fetch requests (version 11) in one buffer. The library allocates half a kilobyte for each partition. */

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

const consumer = -1;
const readCommitted = 1;
const fixedBytes = 35;
const partitionBytes = 28;

/** Begins at a random place. With a fixed rotation, some pairs of topic and partition would never come first. */
function rotated<T>(items: readonly T[]): readonly T[] {
  const first = Math.floor(Math.random() * items.length);
  return first === 0 ? items : [...items.slice(first), ...items.slice(0, first)];
}

export function encodeFetchRequest(request: FetchRequest): Buffer {
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
