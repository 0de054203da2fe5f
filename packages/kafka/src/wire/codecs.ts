/**
 * The compression codecs that Kafka producers use: none, gzip, snappy (raw, and framed as Java and Python clients write it),
 * lz4 and zstd. Decompression has a size limit, because a batch does not contain its decompressed size: 16 KB can expand to
 * 512 MB.
 */
import {
  constants,
  inflateRawSync,
  zstdCompress as zstdCompressWithCallback,
  zstdCompressSync,
  zstdDecompressSync,
} from 'node:zlib';
import { promisify } from 'node:util';
import lz4 from 'lz4-napi';
import snappy from 'snappy';

/** The lowest three bits of a batch's attributes. */
export const codecMask = 0x07;
export const zstdCodec = 4;

export class TooLargeDecompressed extends Error {}

type Decompress = (bytes: Buffer, maxBytes: number) => Buffer;

/** By codec number. 0 is no compression. */
const decompressors: readonly Decompress[] = [
  (bytes) => bytes,
  gunzip,
  (bytes, maxBytes) => (isFramedSnappy(bytes) ? unsnapFrames(bytes, maxBytes) : unsnap(bytes, maxBytes)),
  unlz4,
  unzstd,
];

/**
 * @throws TooLargeDecompressed beyond `maxBytes`, before that memory is allocated
 * @throws Error if the bytes are not valid for the codec
 */
export function decompress(codec: number, bytes: Buffer, maxBytes: number): Buffer {
  const decompressor = decompressors[codec];
  if (!decompressor) throw new Error(`codec ${codec} is unknown`);
  return decompressor(bytes, maxBytes);
}

function bounded(inflate: () => Buffer): Buffer {
  try {
    return inflate();
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
      ? new TooLargeDecompressed()
      : error;
  }
}

function unzstd(bytes: Buffer, maxBytes: number): Buffer {
  return bounded(() => zstdDecompressSync(bytes, { maxOutputLength: maxBytes }));
}

/** Ignores bytes after the end, as brokers and other consumers do. The header is parsed here for that reason. */
function gunzip(bytes: Buffer, maxBytes: number): Buffer {
  return bounded(() =>
    inflateRawSync(bytes.subarray(gzipHeaderLength(bytes)), { maxOutputLength: maxBytes }),
  );
}

/** RFC 1952, section 2.3. */
function gzipHeaderLength(bytes: Buffer): number {
  if (bytes.length < 10 || bytes.readUInt16BE(0) !== 0x1f8b || bytes[2] !== 8) {
    throw new Error('the gzip header is missing');
  }
  const flags = bytes[3] ?? 0;
  const [extra, name, comment, headerCheck] = [0x04, 0x08, 0x10, 0x02].map((flag) => (flags & flag) !== 0);
  let length = 10;
  if (extra) length += 2 + bytes.readUInt16LE(length);
  for (const text of [name, comment]) {
    if (!text) continue;
    const end = bytes.indexOf(0, length);
    if (end < 0) throw new Error('the gzip header is cut off');
    length = end + 1;
  }
  return headerCheck ? length + 2 : length;
}

const snappyMagic = Buffer.from([0x82, ...Buffer.from('SNAPPY'), 0]);
/** The magic number, and two versions of four bytes each. */
const snappyHeaderBytes = 16;

function isFramedSnappy(bytes: Buffer): boolean {
  return bytes.length >= snappyHeaderBytes && bytes.subarray(0, snappyMagic.length).equals(snappyMagic);
}

function unsnapFrames(bytes: Buffer, maxBytes: number): Buffer {
  const blocks: Buffer[] = [];
  let total = 0;
  for (let at = snappyHeaderBytes; at < bytes.length;) {
    const length = bytes.readUInt32BE(at);
    const end = at + 4 + length;
    if (end > bytes.length) throw new Error('a snappy block is cut off');
    const block = unsnap(bytes.subarray(at + 4, end), maxBytes - total);
    blocks.push(block);
    total += block.length;
    at = end;
  }
  return Buffer.concat(blocks, total);
}

function unsnap(bytes: Buffer, maxBytes: number): Buffer {
  if (snappyLength(bytes) > maxBytes) throw new TooLargeDecompressed();
  return snappy.uncompressSync(bytes, { asBuffer: true }) as Buffer;
}

/** A raw block begins with its decompressed length as a varint. */
function snappyLength(bytes: Buffer): number {
  let length = 0;
  for (let place = 0; place < 5; place += 1) {
    const byte = bytes[place];
    if (byte === undefined) break;
    length += (byte & 0x7f) * 2 ** (7 * place);
    if (byte < 0x80) return length;
  }
  throw new Error('a snappy block has no length');
}

function unlz4(bytes: Buffer, maxBytes: number): Buffer {
  if (lz4Length(bytes, maxBytes) > maxBytes) throw new TooLargeDecompressed();
  return lz4.decompressFrameSync(bytes);
}

const lz4Magic = 0x184d2204;

/**
 * The decompressed length of an LZ4 frame, or any value above `maxBytes` if it is longer. The LZ4 library has no size limit,
 * so the lengths in the blocks are summed first, without decompressing (LZ4 frame format 1.6.4, LZ4 block format).
 */
function lz4Length(bytes: Buffer, maxBytes: number): number {
  if (bytes.length < 7 || bytes.readUInt32LE(0) !== lz4Magic)
    throw new Error('the LZ4 frame header is missing');
  const flags = bytes[4] ?? 0;
  const checksumBytes = flags & 0x10 ? 4 : 0;
  let at = 7 + (flags & 0x08 ? 8 : 0) + (flags & 0x01 ? 4 : 0);
  let total = 0;
  while (total <= maxBytes) {
    const size = bytes.readUInt32LE(at);
    at += 4;
    if (size === 0) return total;
    const length = size & 0x7fffffff;
    if (at + length > bytes.length) throw new Error('an LZ4 block is cut off');
    const isStored = size >= 0x80000000;
    total += isStored ? length : lz4BlockLength(bytes.subarray(at, at + length), maxBytes - total);
    at += length + checksumBytes;
  }
  return total;
}

function lz4BlockLength(block: Buffer, maxBytes: number): number {
  let total = 0;
  let at = 0;
  const extended = (length: number): number => {
    if (length < 15) return length;
    for (;;) {
      const more = block[at++] ?? 0;
      length += more;
      if (more !== 255) return length;
    }
  };
  while (at < block.length && total <= maxBytes) {
    const token = block[at++] ?? 0;
    const literals = extended(token >> 4);
    total += literals;
    at += literals;
    if (at >= block.length) break;
    at += 2;
    total += 4 + extended(token & 0x0f);
  }
  return total;
}

const zstdCompress = promisify(zstdCompressWithCallback);

/** Level 1. A request is compressed once and read a few times. Higher levels saved 5 % of size for twice the time. */
const zstdOptions = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Below this size, synchronous compression costs less than the thread pool. */
const asyncFromBytes = 128 * 1024;

export function compressZstd(bytes: Buffer): Buffer | Promise<Buffer> {
  return bytes.length < asyncFromBytes
    ? zstdCompressSync(bytes, zstdOptions)
    : zstdCompress(bytes, zstdOptions);
}
