/**
 * Record batches of Kafka's format 2, as they come in answers to fetches. The library's own decoder fails the whole
 * answer where one batch cannot be decoded, decompresses without a bound, and takes time quadratic in the number of
 * headers. This one answers for each batch by itself, and counts what it makes.
 */
import { crc32c } from '@node-rs/crc32';
import type { RecordHeader } from '../record.ts';
import { codecMask, decompress, TooLargeDecompressed } from './codecs.ts';

/** A record as it passes through the library, which looks at the offset, `isControlRecord` and `batchContext` only. */
export interface FetchedRecord {
  readonly offset: number;
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly RecordHeader[];
  readonly isControlRecord: boolean;
  readonly batchContext: BatchContext;
  /** Stands for a batch that could not be decoded, at the batch's last offset. */
  readonly unreadable?: Unreadable;
}

export interface BatchContext {
  readonly producerId: string;
  readonly inTransaction: boolean;
}

/** A batch that was stepped over. */
export interface Unreadable {
  readonly firstOffset: number;
  readonly lastOffset: number;
  readonly reason: 'undecodable' | 'too-large-decoded';
  /** What is wrong with it, in a sentence. */
  readonly detail: string;
}

/** What records take of memory beside the bytes they point into. Measured: 208 bytes each, and 187 for a header. */
const recordOverheadBytes = 208;
const headerOverheadBytes = 187;

/** The first offset and the length, which counts what comes after it. */
const prefixBytes = 12;
const magicPlace = 16;
const headerBytes = 61;
const magic = 2;
const transactionalFlag = 0x10;
const controlFlag = 0x20;
const logAppendTimeFlag = 0x08;

class Malformed extends Error {}

export interface DecodedBatch {
  readonly records: readonly FetchedRecord[];
  /** What it takes of memory: decompressed bytes, and what the records take beside them. */
  readonly cost: number;
  /** The bytes of the batch in `bytes`. */
  readonly length: number;
}

/** The whole length of the batch that begins at `start`; undefined where the rest of it is not there. */
export function batchLength(bytes: Buffer, start: number): number | undefined {
  if (start + prefixBytes > bytes.length) return undefined;
  const length = prefixBytes + bytes.readInt32BE(start + 8);
  return start + length > bytes.length || length <= magicPlace ? undefined : length;
}

/** Decodes one batch that is there as a whole. `maxCost` bounds what it may take of memory. Never throws. */
export function decodeBatch(bytes: Buffer, start: number, length: number, maxCost: number): DecodedBatch {
  const batch = bytes.subarray(start, start + length);
  const firstOffset = Number(batch.readBigInt64BE(0));
  if (batch[magicPlace] !== magic || length < headerBytes) {
    return unreadableBatch(length, noContext, {
      ...{ firstOffset, lastOffset: firstOffset, reason: 'undecodable' },
      detail: 'It is in a format older than that of Kafka 0.11.',
    });
  }
  const lastOffset = firstOffset + Math.max(0, batch.readInt32BE(23));
  const attributes = batch.readInt16BE(21);
  const batchContext = {
    producerId: batch.readBigInt64BE(43).toString(),
    inTransaction: (attributes & transactionalFlag) !== 0,
  };
  const isControlRecord = (attributes & controlFlag) !== 0;
  try {
    if (crc32c(batch.subarray(21)) !== batch.readUInt32BE(17)) throw new Malformed('its checksum is wrong');
    const decompressed = decompress(attributes & codecMask, batch.subarray(headerBytes), maxCost);
    const isCompressed = (attributes & codecMask) !== 0;
    const reader = new RecordReader(decompressed, isCompressed ? maxCost - decompressed.length : maxCost);
    const records = reader.records(batch.readInt32BE(57), {
      ...{ firstOffset, lastOffset, batchContext, isControlRecord },
      firstTimestamp: Number(batch.readBigInt64BE(27)),
      appendTimestamp: attributes & logAppendTimeFlag ? Number(batch.readBigInt64BE(35)) : undefined,
    });
    // Compaction removes records from the end of a batch too, or all of them. The library would ask for what is gone.
    const last = records.at(-1)?.offset ?? -1;
    if (last < lastOffset) records.push({ ...placeholder(lastOffset, batchContext), isControlRecord: true });
    return { records, cost: reader.cost + (isCompressed ? decompressed.length : 0), length };
  } catch (error) {
    const isTooLarge = error instanceof TooLargeDecompressed;
    return unreadableBatch(length, batchContext, {
      ...{ firstOffset, lastOffset },
      reason: isTooLarge ? 'too-large-decoded' : 'undecodable',
      detail: isTooLarge
        ? `Decoded, it takes more than ${Math.round(maxCost / 2 ** 20)} MiB of memory.`
        : `It cannot be decoded: ${(error as Error).message}.`,
    });
  }
}

const noContext: BatchContext = { producerId: '-1', inTransaction: false };

function unreadableBatch(length: number, context: BatchContext, unreadable: Unreadable): DecodedBatch {
  const record = { ...placeholder(unreadable.lastOffset, context), unreadable };
  return { records: [record], cost: recordOverheadBytes, length };
}

function placeholder(offset: number, batchContext: BatchContext): FetchedRecord {
  return { offset, timestamp: -1, key: null, value: null, headers: [], isControlRecord: false, batchContext };
}

interface RecordContext extends Pick<FetchedRecord, 'batchContext' | 'isControlRecord'> {
  readonly firstOffset: number;
  readonly lastOffset: number;
  readonly firstTimestamp: number;
  readonly appendTimestamp: number | undefined;
}

/** Reads records one after another, and never beyond their end. */
class RecordReader {
  readonly #bytes: Buffer;
  readonly #maxCost: number;
  #at = 0;
  /** What the records take beside the bytes. */
  cost = 0;

  constructor(bytes: Buffer, maxCost: number) {
    this.#bytes = bytes;
    this.#maxCost = maxCost;
  }

  records(count: number, context: RecordContext): FetchedRecord[] {
    const records: FetchedRecord[] = [];
    let next = context.firstOffset;
    for (let index = 0; index < count; index += 1) {
      this.#spend(recordOverheadBytes);
      const record = this.#record(context);
      // Brokers check this in compressed batches only; a reader would skip what lies between, or begin again.
      if (record.offset < next || record.offset > context.lastOffset)
        throw new Malformed('its offsets are wrong');
      next = record.offset + 1;
      records.push(record);
    }
    return records;
  }

  #record({ firstOffset, firstTimestamp, appendTimestamp, ...context }: RecordContext): FetchedRecord {
    const length = this.#varint();
    const end = this.#at + length;
    if (length < 0 || end > this.#bytes.length) throw new Malformed('a record is cut off');
    this.#at += 1; // Attributes, of which none is defined.
    const timestamp = firstTimestamp + this.#varint();
    const offset = firstOffset + this.#varint();
    const key = this.#nullableBytes();
    const value = this.#nullableBytes();
    const headers = this.#headers();
    if (this.#at !== end) throw new Malformed('a record has another length than it says');
    return {
      ...{ offset, timestamp: appendTimestamp ?? timestamp, key, value, headers },
      isControlRecord: context.isControlRecord,
      batchContext: context.batchContext,
    };
  }

  #headers(): readonly RecordHeader[] {
    const count = this.#varint();
    if (count <= 0) return noHeaders;
    const headers: RecordHeader[] = [];
    for (let index = 0; index < count; index += 1) {
      this.#spend(headerOverheadBytes);
      const name = this.#nullableBytes();
      if (name === null) throw new Malformed('a header has no name');
      headers.push([name.toString(), this.#nullableBytes()]);
    }
    return headers;
  }

  #nullableBytes(): Buffer | null {
    const length = this.#varint();
    if (length < 0) return null;
    const start = this.#at;
    this.#at += length;
    if (this.#at > this.#bytes.length) throw new Malformed('a record is cut off');
    return this.#bytes.subarray(start, this.#at);
  }

  /** A number in zigzag encoding, of up to 64 bits; beyond 2^53, where only a nonsensical time may be, it is rounded. */
  #varint(): number {
    let low = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.#byte();
      low |= (byte & 0x7f) << shift;
      if (byte < 0x80) return (low >>> 1) ^ -(low & 1);
    }
    let value = low;
    for (let scale = 2 ** 28; scale <= 2 ** 63; scale *= 128) {
      const byte = this.#byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    }
    throw new Malformed('a number is too long');
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw new Malformed('a record is cut off');
    return byte;
  }

  #spend(bytes: number): void {
    this.cost += bytes;
    if (this.cost > this.#maxCost) throw new TooLargeDecompressed();
  }
}

const noHeaders: readonly RecordHeader[] = [];
