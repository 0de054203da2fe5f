/**
 * Decodes record batches (format 2) of fetch responses. The library's decoder fails the whole response if one batch cannot
 * be decoded, decompresses without a limit, and takes time quadratic in the number of headers. This decoder returns a
 * result for each batch, and counts the memory that the batch takes.
 */
import { crc32c } from '@node-rs/crc32';
import type { RecordHeader } from '../record.ts';
import { codecMask, decompress, TooLargeDecompressed } from './codecs.ts';

/** A record as it passes through the library, which reads only `offset`, `isControlRecord` and `batchContext`. */
export interface FetchedRecord {
  readonly offset: number;
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly RecordHeader[];
  readonly isControlRecord: boolean;
  readonly batchContext: BatchContext;
  /** Present if the record represents a batch that could not be decoded, at the batch's last offset. */
  readonly unreadable?: Unreadable;
}

interface BatchContext {
  readonly producerId: string;
  readonly inTransaction: boolean;
}

/** A batch that is skipped. */
export interface Unreadable {
  readonly firstOffset: number;
  readonly lastOffset: number;
  readonly reason: 'undecodable' | 'too-large-decoded';
  /** The cause, as a sentence. */
  readonly detail: string;
}

/** The memory of a record and of a header, without their bytes. Measured: 208 bytes and 187 bytes. */
const recordOverheadBytes = 208;
const headerOverheadBytes = 187;

/** The first offset, and the length of the rest. */
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
  /** The memory that it takes: decompressed bytes and record objects. */
  readonly cost: number;
  /** The length of the encoded batch. */
  readonly length: number;
}

/** The length of the batch that begins at `start`; undefined if the batch is cut off. */
export function batchLength(bytes: Buffer, start: number): number | undefined {
  if (start + prefixBytes > bytes.length) return undefined;
  const length = prefixBytes + bytes.readInt32BE(start + 8);
  return start + length > bytes.length || length <= magicPlace ? undefined : length;
}

/** Decodes one complete batch. `maxCost` is its memory limit. Never throws. */
export function decodeBatch(bytes: Buffer, start: number, length: number, maxCost: number): DecodedBatch {
  const batch = bytes.subarray(start, start + length);
  const firstOffset = Number(batch.readBigInt64BE(0));
  if (batch[magicPlace] !== magic || length < headerBytes) {
    return unreadableBatch(length, noContext, {
      firstOffset,
      lastOffset: firstOffset,
      reason: 'undecodable',
      detail: 'Its format is older than that of Kafka 0.11.',
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
    if (crc32c(batch.subarray(21)) !== batch.readUInt32BE(17)) throw new Malformed('the checksum is wrong');
    const decompressed = decompress(attributes & codecMask, batch.subarray(headerBytes), maxCost);
    const isCompressed = (attributes & codecMask) !== 0;
    const reader = new RecordReader(decompressed, isCompressed ? maxCost - decompressed.length : maxCost);
    const records = reader.records(batch.readInt32BE(57), {
      firstOffset,
      lastOffset,
      batchContext,
      isControlRecord,
      firstTimestamp: Number(batch.readBigInt64BE(27)),
      appendTimestamp: attributes & logAppendTimeFlag ? Number(batch.readBigInt64BE(35)) : undefined,
    });
    // Compaction may remove the last records of a batch, or all. Without a placeholder the library would fetch them again.
    const last = records.at(-1)?.offset ?? -1;
    if (last < lastOffset) records.push({ ...placeholder(lastOffset, batchContext), isControlRecord: true });
    return { records, cost: reader.cost + (isCompressed ? decompressed.length : 0), length };
  } catch (error) {
    const isTooLarge = error instanceof TooLargeDecompressed;
    return unreadableBatch(length, batchContext, {
      firstOffset,
      lastOffset,
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

/** Reads records in sequence, and never beyond their end. */
class RecordReader {
  readonly #bytes: Buffer;
  readonly #maxCost: number;
  #at = 0;
  /** The memory of the record objects. */
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
      // Brokers check this in compressed batches only. Without this check a reader would skip or repeat records.
      if (record.offset < next || record.offset > context.lastOffset)
        throw new Malformed('the offsets are wrong');
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
    if (this.#at !== end) throw new Malformed('the length of a record is wrong');
    return {
      offset,
      timestamp: appendTimestamp ?? timestamp,
      key,
      value,
      headers,
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
      headers.push([this.#headerName(), this.#nullableBytes()]);
    }
    return headers;
  }

  #headerName(): string {
    const length = this.#varint();
    if (length < 0) throw new Malformed('a header has no name');
    const start = this.#skip(length);
    return this.#bytes.toString('utf8', start, this.#at);
  }

  #nullableBytes(): Buffer | null {
    const length = this.#varint();
    if (length < 0) return null;
    const start = this.#skip(length);
    return this.#bytes.subarray(start, this.#at);
  }

  /** Returns where the skipped bytes begin. */
  #skip(length: number): number {
    const start = this.#at;
    this.#at += length;
    if (this.#at > this.#bytes.length) throw new Malformed('a record is cut off');
    return start;
  }

  /** A zigzag-encoded number of up to 64 bits. Values beyond 2^53, which only an invalid timestamp has, are rounded. */
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
