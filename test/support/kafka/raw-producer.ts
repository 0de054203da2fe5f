/**
 * Writes record batches as a faulty or hostile producer does, directly to a broker. The encoder is independent of Tailrace,
 * so that Tailrace is not tested only against its own output.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';

export interface RawRecord {
  readonly key?: Buffer | string | null;
  readonly value?: Buffer | string | null;
  readonly headers?: readonly (readonly [name: string, value: Buffer | string | null])[];
  /** Milliseconds since the epoch. Default: that of the batch. */
  readonly timestamp?: number;
}

export interface RawBatch {
  readonly records: readonly RawRecord[];
  /** 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd. */
  readonly codec?: number;
  /** Compresses the records. */
  readonly compress?: (records: Buffer) => Buffer;
  /** Of all records without one, in milliseconds since the epoch. Default: now. */
  readonly timestamp?: number;
}

/** Writes one batch to a partition that the broker leads; rejects if the broker refuses it. */
export async function produceRaw(
  broker: string,
  topic: string,
  partition: number,
  batch: RawBatch,
): Promise<void> {
  const answer = await request(
    broker,
    0,
    7,
    [
      [int16(-1), int16(-1), int32(10_000), int32(1), text(topic), int32(1), int32(partition)],
      sized(batchOf(batch)),
    ].flat(),
  );
  // Correlation id, one topic and its name, one partition and its number.
  const errorCode = answer.readInt16BE(4 + 4 + 2 + topic.length + 4 + 4);
  assert.equal(errorCode, 0, `the broker refused the batch with code ${errorCode}`);
}

async function request(
  broker: string,
  key: number,
  version: number,
  parts: readonly Buffer[],
): Promise<Buffer> {
  const [host, port] = broker.split(':');
  const socket = connect(Number(port), host);
  await once(socket, 'connect');
  try {
    socket.write(sized(Buffer.concat([int16(key), int16(version), int32(1), text('raw'), ...parts])));
    let received = Buffer.alloc(0);
    for await (const chunk of socket) {
      received = Buffer.concat([received, chunk as Buffer]);
      if (received.length >= 4 && received.length >= 4 + received.readInt32BE(0)) break;
    }
    return received.subarray(4);
  } finally {
    socket.destroy();
  }
}

function batchOf({
  records,
  codec = 0,
  compress = (bytes) => bytes,
  timestamp = Date.now(),
}: RawBatch): Buffer {
  const first = Math.round(timestamp);
  const content = compress(
    Buffer.concat(
      records.map((record, place) => recordOf(record, place, (record.timestamp ?? first) - first)),
    ),
  );
  const noProducer = Buffer.alloc(14, 0xff);
  const checked = Buffer.concat([
    int16(codec),
    int32(records.length - 1),
    int64(first),
    int64(records.reduce((latest, { timestamp = first }) => Math.max(latest, timestamp), first)),
    noProducer,
    int32(records.length),
    content,
  ]);
  const body = Buffer.concat([int32(0), Buffer.from([2]), int32(crc32c(checked) | 0), checked]);
  return Buffer.concat([Buffer.alloc(8), sized(body)]);
}

function recordOf(
  { key = null, value = null, headers = [] }: RawRecord,
  place: number,
  delayMs: number,
): Buffer {
  const body = Buffer.concat([
    Buffer.from([0]),
    varint(delayMs),
    varint(place),
    bytes(key),
    bytes(value),
    varint(headers.length),
    ...headers.flatMap(([name, header]) => [bytes(name), bytes(header)]),
  ]);
  return Buffer.concat([varint(body.length), body]);
}

function bytes(content: Buffer | string | null): Buffer {
  if (content === null) return varint(-1);
  const buffer = Buffer.from(content as string);
  return Buffer.concat([varint(buffer.length), buffer]);
}

function varint(value: number): Buffer {
  const out: number[] = [];
  let rest = value >= 0 ? value * 2 : -value * 2 - 1;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) out.push((rest % 128) | 0x80);
  return Buffer.from([...out, rest]);
}

function int16(value: number): Buffer {
  const buffer = Buffer.alloc(2);
  buffer.writeInt16BE(value);
  return buffer;
}

function int32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeInt32BE(value);
  return buffer;
}

function text(value: string): Buffer {
  return Buffer.concat([int16(value.length), Buffer.from(value)]);
}

function int64(value: number): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeBigInt64BE(BigInt(value));
  return buffer;
}

function sized(content: Buffer): Buffer {
  return Buffer.concat([int32(content.length), content]);
}

function crc32c(content: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of content) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
