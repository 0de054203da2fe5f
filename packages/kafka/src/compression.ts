/** zstd for the client library, by Node's own zlib; importing this file registers it. */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { promisify } from 'node:util';
import { zstdCompress as zstdCompressWithCallback } from 'node:zlib';
import kafkajs from 'kafkajs';

const zstdCompress = promisify(zstdCompressWithCallback);

/** Level 1: a produce request is compressed once and read a few times; higher levels gained 5 % of size for twice the time. */
const options = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Below this size, compressing on the spot costs less than a trip through the thread pool. */
const asyncFromBytes = 128 * 1024;

kafkajs.CompressionCodecs[kafkajs.CompressionTypes.ZSTD] = () => ({
  async compress({ buffer }: { buffer: Buffer }): Promise<Buffer> {
    return buffer.length < asyncFromBytes ? zstdCompressSync(buffer, options) : zstdCompress(buffer, options);
  },
  decompress(buffer: Buffer): Promise<Buffer> {
    return Promise.resolve(zstdDecompressSync(buffer));
  },
});
