/**
 * Defects: the library's encoder throws on a null header value, moves headers with numeric names to the front, and copies each record
 * several times.
 *
 * Upstream: tulios/kafkajs#1789 for null header values; no issue found for the others.
 *
 * Patch: produce requests (version 7) are encoded in one buffer, with headers as they are given.
 */
import { crc32c } from '@node-rs/crc32';
import { headerEntries, type OutgoingHeaders } from '../../record.ts';
import { compressZstd, zstdCodec } from '../../wire/codecs.ts';
import { replacing } from '../apply.ts';
import { encoderOf, type MakeEncoded } from '../encoder.ts';

/** A message as this package passes it to the library, which does not change it. */
export interface WireMessage {
  readonly key: string | Buffer | null;
  readonly value: string | Buffer | null;
  readonly headers?: OutgoingHeaders | undefined;
  /** Set by the library. */
  readonly partition?: number | undefined;
}

interface ProduceRequest {
  readonly acks: number;
  readonly timeout: number;
  readonly transactionalId?: string | null;
  readonly producerId?: string | number;
  readonly producerEpoch?: number;
  readonly compression?: number;
  readonly topicData: readonly {
    readonly topic: string;
    readonly partitions: readonly {
      readonly partition: number;
      readonly firstSequence: number;
      readonly messages: readonly WireMessage[];
    }[];
  }[];
}

export const produceRequest = replacing<MakeEncoded<ProduceRequest>>(
  'protocol/requests/produce/v7/request',
  (original) => (options) => ({
    ...original(options),
    encode: async () => encoderOf(await encodeProduceRequest(options)),
  }),
);

const batchHeaderBytes = 61;
const maxVarintBytes = 5;
const transactionalFlag = 0x10;

export async function encodeProduceRequest(request: ProduceRequest): Promise<Buffer> {
  const { acks, timeout, transactionalId = null, topicData } = request;
  const writer = new Writer(1_024);
  writer.nullableString(transactionalId);
  writer.int16(acks);
  writer.int32(timeout);
  writer.int32(topicData.length);
  for (const { topic, partitions } of topicData) {
    writer.nullableString(topic);
    writer.int32(partitions.length);
    for (const { partition, firstSequence, messages } of partitions) {
      writer.int32(partition);
      await writeBatch(writer, request, firstSequence, messages);
    }
  }
  return writer.written;
}

/** Writes the length of the batch, and the batch. */
async function writeBatch(
  writer: Writer,
  { compression = 0, transactionalId, producerId = -1, producerEpoch = 0 }: ProduceRequest,
  firstSequence: number,
  messages: readonly WireMessage[],
): Promise<void> {
  const now = BigInt(Date.now());
  const sizeAt = writer.skip(4);
  const start = writer.skip(batchHeaderBytes);
  const records = messages.map(sizedRecord);
  writer.reserve(records.reduce((sum, { size }) => sum + size + maxVarintBytes, 0));
  for (const record of records) writeRecord(writer, record);
  if (compression === zstdCodec) {
    writer.replaceFrom(start + batchHeaderBytes, await compressZstd(writer.from(start + batchHeaderBytes)));
  }
  const batch = writer.from(start);
  writer.from(sizeAt).writeInt32BE(batch.length, 0);
  batch.writeBigInt64BE(0n, 0); // The first offset. The broker sets it.
  batch.writeInt32BE(batch.length - 12, 8);
  batch.writeInt32BE(0, 12); // The leader's epoch.
  batch.writeInt8(2, 16);
  batch.writeInt16BE(compression | (transactionalId ? transactionalFlag : 0), 21);
  batch.writeInt32BE(messages.length - 1, 23);
  batch.writeBigInt64BE(now, 27);
  batch.writeBigInt64BE(now, 35);
  batch.writeBigInt64BE(BigInt(producerId), 43);
  batch.writeInt16BE(producerEpoch, 51);
  batch.writeInt32BE(firstSequence, 53);
  batch.writeInt32BE(messages.length, 57);
  batch.writeUInt32BE(crc32c(batch.subarray(21)), 17);
}

/** A record and the size of its encoding, so that the buffer grows at most once for a batch. */
interface SizedRecord extends Pick<WireMessage, 'key' | 'value'> {
  readonly offsetDelta: number;
  readonly entries: ReturnType<typeof headerEntries>;
  /** Without the varint of the size, which comes first. */
  readonly size: number;
}

function sizedRecord({ key, value, headers }: WireMessage, offsetDelta: number): SizedRecord {
  const entries = headerEntries(headers);
  let size = 2 + sizeOfVarint(offsetDelta) + sizeOfBytes(key) + sizeOfBytes(value);
  size += sizeOfVarint(entries.length);
  for (const [name, header] of entries) size += sizeOfBytes(name) + sizeOfBytes(header);
  return { key, value, offsetDelta, entries, size };
}

function writeRecord(writer: Writer, { key, value, offsetDelta, entries, size }: SizedRecord): void {
  writer.varint(size);
  writer.int8(0); // The attributes. None is defined.
  writer.int8(0); // The time delta: all records have the time of the batch.
  writer.varint(offsetDelta);
  writer.varintBytes(key);
  writer.varintBytes(value);
  writer.varint(entries.length);
  for (const [name, header] of entries) {
    writer.varintBytes(name);
    writer.varintBytes(header);
  }
}

function sizeOfVarint(value: number): number {
  const zigzag = (value << 1) ^ (value >> 31);
  return Math.max(1, Math.ceil((32 - Math.clz32(zigzag)) / 7));
}

function sizeOfBytes(bytes: string | Buffer | null): number {
  if (bytes === null) return 1;
  const length = Buffer.byteLength(bytes);
  return sizeOfVarint(length) + length;
}

/** Up to this length a loop takes less time than `write`. */
const shortText = 64;

/** A growing buffer. */
class Writer {
  #bytes: Buffer;
  #at = 0;

  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafe(size);
  }

  get written(): Buffer {
    return this.#bytes.subarray(0, this.#at);
  }

  /** The bytes from `start` on. Valid until the next write. */
  from(start: number): Buffer {
    return this.#bytes.subarray(start, this.#at);
  }

  /** Ensures capacity for `bytes`, so that the following writes need no check. */
  reserve(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#at + bytes));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }

  /** Leaves bytes to be written later, and returns their position. It may replace the buffer. */
  skip(bytes: number): number {
    this.reserve(bytes);
    this.#at += bytes;
    return this.#at - bytes;
  }

  replaceFrom(start: number, bytes: Buffer): void {
    this.#at = start;
    this.reserve(bytes.length);
    this.#at += bytes.copy(this.#bytes, start);
  }

  int8(value: number): void {
    this.#bytes[this.#at++] = value;
  }

  int16(value: number): void {
    const at = this.skip(2);
    this.#bytes.writeInt16BE(value, at);
  }

  int32(value: number): void {
    const at = this.skip(4);
    this.#bytes.writeInt32BE(value, at);
  }

  nullableString(text: string | null): void {
    if (text === null) {
      this.int16(-1);
      return;
    }
    const length = Buffer.byteLength(text);
    this.int16(length);
    const at = this.skip(length);
    this.#bytes.write(text, at);
  }

  varint(value: number): void {
    let zigzag = ((value << 1) ^ (value >> 31)) >>> 0;
    while (zigzag > 0x7f) {
      this.#bytes[this.#at++] = (zigzag & 0x7f) | 0x80;
      zigzag >>>= 7;
    }
    this.#bytes[this.#at++] = zigzag;
  }

  varintBytes(bytes: string | Buffer | null): void {
    if (bytes === null) {
      this.varint(-1);
    } else if (typeof bytes === 'string') {
      const length = Buffer.byteLength(bytes);
      this.varint(length);
      if (length === bytes.length && length <= shortText) this.#ascii(bytes);
      else this.#at += this.#bytes.write(bytes, this.#at);
    } else {
      this.varint(bytes.length);
      this.#at += bytes.copy(this.#bytes, this.#at);
    }
  }

  #ascii(text: string): void {
    const bytes = this.#bytes;
    const start = this.#at;
    for (let index = 0; index < text.length; index += 1) bytes[start + index] = text.charCodeAt(index);
    this.#at += text.length;
  }
}
