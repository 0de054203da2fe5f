/**
 * Kafka's answer to a fetch (version 11), decoded within a bound on memory: what one answer may make is limited, and
 * what is beyond it is left for the next fetch.
 */
import { batchLength, decodeBatch, type FetchedRecord } from './record-batch.ts';

/** Memory that one batch may take decoded. A batch of more is unreadable, so this is far above what producers write. */
export const maxBatchCost = 32 * 2 ** 20;
/** Memory that all batches of one answer may take decoded; beyond it nothing more is begun. */
const maxResponseCost = 16 * 2 ** 20;

export interface PartitionData {
  readonly partition: number;
  readonly errorCode: number;
  readonly highWatermark: string;
  readonly abortedTransactions: readonly { readonly producerId: string; readonly firstOffset: string }[];
  readonly preferredReadReplica: number;
  messages: FetchedRecord[];
}

interface Undecoded {
  readonly data: PartitionData;
  readonly batches: Buffer;
}

export function decodeFetchResponse(payload: Buffer) {
  const reader = new Reader(payload);
  const clientSideThrottleTime = reader.int32();
  const errorCode = reader.int16();
  const sessionId = reader.int32();
  const undecoded: Undecoded[] = [];
  const responses = reader.array(() => ({
    topicName: reader.string(),
    partitions: reader.array(() => {
      const data: PartitionData = {
        partition: reader.int32(),
        errorCode: reader.int16(),
        highWatermark: reader.int64(),
        // The last stable offset and the first offset come before it.
        abortedTransactions: reader.skip(16).array(() => ({
          producerId: reader.int64(),
          firstOffset: reader.int64(),
        })),
        preferredReadReplica: reader.int32(),
        messages: [],
      };
      const batches = reader.bytes();
      if (batches.length > 0) undecoded.push({ data, batches });
      return data;
    }),
  }));
  decodeWithinBound(undecoded);
  return { throttleTime: 0, clientSideThrottleTime, errorCode, sessionId, responses };
}

/** Each answer begins with another partition, so that none is left out again and again. */
function decodeWithinBound(undecoded: readonly Undecoded[]): void {
  const first = Math.floor(Math.random() * undecoded.length);
  let cost = 0;
  for (let index = 0; index < undecoded.length && cost < maxResponseCost; index += 1) {
    const entry = undecoded[(first + index) % undecoded.length];
    if (entry) cost += decodeBatches(entry, maxResponseCost - cost);
  }
}

/** The last batch may be there in part, which is how Kafka keeps to the size that was asked for. */
function decodeBatches({ data, batches }: Undecoded, maxCost: number): number {
  let cost = 0;
  for (let start = 0; cost < maxCost;) {
    const length = batchLength(batches, start);
    if (length === undefined) break;
    const batch = decodeBatch(batches, start, length, maxBatchCost);
    for (const record of batch.records) data.messages.push(record);
    cost += batch.cost;
    start += length;
  }
  return cost;
}

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  int16(): number {
    this.#at += 2;
    return this.#bytes.readInt16BE(this.#at - 2);
  }

  int32(): number {
    this.#at += 4;
    return this.#bytes.readInt32BE(this.#at - 4);
  }

  int64(): string {
    this.#at += 8;
    return this.#bytes.readBigInt64BE(this.#at - 8).toString();
  }

  skip(bytes: number): this {
    this.#at += bytes;
    return this;
  }

  string(): string {
    const length = this.int16();
    this.#at += length;
    return this.#bytes.toString('utf8', this.#at - length, this.#at);
  }

  bytes(): Buffer {
    const length = Math.max(0, this.int32());
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  /** Null, which Kafka writes as a length of -1, is read as empty. */
  array<T>(read: () => T): T[] {
    const length = this.int32();
    const items: T[] = [];
    for (let index = 0; index < length; index += 1) items.push(read());
    return items;
  }
}
