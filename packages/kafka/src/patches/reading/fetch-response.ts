/**
 * Defects: the library fails the whole response, with all its partitions, if one batch cannot be decoded, and does not compare checksums. It
 * decompresses without a limit, knows only gzip, and takes time quadratic in the number of headers.
 *
 * Upstream: no issue found.
 *
 * Patch: responses (version 11) are decoded within a memory limit by wire/record-batch.ts, which makes one unreadable batch one
 * placeholder record. Batches beyond the limit are left for the next fetch.
 */
import { batchLength, decodeBatch, type FetchedRecord } from '../../wire/record-batch.ts';
import { replacing } from '../apply.ts';

/** The memory limit of one decoded batch. A larger batch is unreadable, so the limit is far above what producers write. */
const maxBatchCost = 32 * 2 ** 20;
/** The memory limit of all decoded batches of one response. Beyond it no further batch is decoded. */
const maxResponseCost = 16 * 2 ** 20;

export interface PartitionData {
  readonly partition: number;
  readonly errorCode: number;
  readonly highWatermark: string;
  readonly abortedTransactions: readonly { readonly producerId: string; readonly firstOffset: string }[];
  readonly preferredReadReplica: number;
  /** The encoded length of the batches whose records are in `messages`. */
  bytes: number;
  messages: FetchedRecord[];
}

export type FetchAnswer = ReturnType<typeof decodeFetchResponse>;

export const fetchResponse = replacing(
  'protocol/requests/fetch/v11/response',
  (original: { readonly decode: (payload: Buffer) => Promise<FetchAnswer> }) => ({
    ...original,
    decode: (payload: Buffer) => Promise.resolve(decodeFetchResponse(payload)),
  }),
);

interface Undecoded {
  readonly data: PartitionData;
  readonly batches: Buffer;
}

function decodeFetchResponse(payload: Buffer) {
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
        bytes: 0,
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

/** Each response is decoded from another partition on, so that no partition is left out repeatedly. */
function decodeWithinBound(undecoded: readonly Undecoded[]): void {
  const first = Math.floor(Math.random() * undecoded.length);
  let cost = 0;
  for (let index = 0; index < undecoded.length && cost < maxResponseCost; index += 1) {
    const entry = undecoded[(first + index) % undecoded.length];
    if (entry) cost += decodeBatches(entry, maxResponseCost - cost);
  }
}

/** The last batch may be incomplete: Kafka cuts the records at the requested size. */
function decodeBatches({ data, batches }: Undecoded, maxCost: number): number {
  let cost = 0;
  for (let start = 0; cost < maxCost;) {
    const length = batchLength(batches, start);
    if (length === undefined) break;
    const batch = decodeBatch(batches, start, length, maxBatchCost);
    for (const record of batch.records) data.messages.push(record);
    data.bytes += length;
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

  /** A null array, which has the length -1, is read as empty. */
  array<T>(read: () => T): T[] {
    const length = this.int32();
    const items: T[] = [];
    for (let index = 0; index < length; index += 1) items.push(read());
    return items;
  }
}
