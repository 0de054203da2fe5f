import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { crc32c } from '@node-rs/crc32';
import fc from 'fast-check';
import lz4 from 'lz4-napi';
import snappy from 'snappy';
import { original } from '../patches/testing/original.ts';
import { encodeProduceRequest, type WireMessage } from '../patches/writing/produce-request.ts';
import { batchLength, decodeBatch } from './record-batch.ts';

const maxCost = 32 * 2 ** 20;

/** The one batch of a produce request for one partition. */
async function batchOf(messages: readonly WireMessage[], compression = 0): Promise<Buffer> {
  const topicData = [{ topic: 't', partitions: [{ partition: 0, firstSequence: 0, messages }] }];
  const request = await encodeProduceRequest({ acks: -1, timeout: 1, compression, topicData });
  // Transactional id, acks, timeout; counts, a name of one letter, the partition and the size.
  return request.subarray(2 + 2 + 4 + 4 + 3 + 4 + 4 + 4);
}

/** The batch with other records in it, under another codec, and a checksum that is right. */
function withRecords(batch: Buffer, codec: number, records: Buffer): Buffer {
  const changed = Buffer.concat([batch.subarray(0, 61), records]);
  changed.writeInt32BE(changed.length - 12, 8);
  changed.writeInt16BE(codec, 21);
  changed.writeUInt32BE(crc32c(changed.subarray(21)), 17);
  return changed;
}

const decode = (batch: Buffer, max = maxCost) => decodeBatch(batch, 0, batch.length, max);

const snappyFramed = (bytes: Buffer): Buffer => {
  const blocks = [bytes.subarray(0, 10), bytes.subarray(10)].map((block) => {
    const compressed = snappy.compressSync(block);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(compressed.length);
    return Buffer.concat([length, compressed]);
  });
  return Buffer.concat([
    Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0, 0, 0, 0, 1, 0, 0, 0, 1]),
    ...blocks,
  ]);
};

const codecs: readonly (readonly [string, number, (bytes: Buffer) => Buffer])[] = [
  ['gzip', 1, (bytes) => gzipSync(bytes)],
  ['gzip with bytes behind its end', 1, (bytes) => Buffer.concat([gzipSync(bytes), Buffer.from('behind')])],
  ['raw snappy', 2, (bytes) => snappy.compressSync(bytes)],
  ['framed snappy', 2, snappyFramed],
  ['lz4', 3, (bytes) => lz4.compressFrameSync(bytes)],
  [
    'lz4 with checksums',
    3,
    (bytes) => lz4.compressFrameSync(bytes, { contentChecksum: true, blockChecksums: true }),
  ],
  ['zstd', 4, (bytes) => zstdCompressSync(bytes)],
];

describe('a batch', () => {
  const bytes = fc.option(fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)));
  const names = fc.oneof(fc.string(), fc.constantFrom('__proto__', '1', 'constructor', 'ü'));
  const headers = fc.array(fc.tuple(names, bytes), { maxLength: 8 });
  const messages = fc.array(fc.record({ key: bytes, value: bytes, headers }), {
    minLength: 1,
    maxLength: 20,
  });

  test('is read as it was written, for any keys, values and headers', async () => {
    await fc.assert(
      fc.asyncProperty(messages, fc.constantFrom(0, 4), async (written, codec) => {
        const batch = await batchOf(written, codec);
        assert.equal(batchLength(batch, 0), batch.length);
        const read = decode(batch).records.map(({ key, value, headers }) => ({ key, value, headers }));
        assert.deepEqual(
          read,
          written.map(({ key, value, headers }) => ({ key, value, headers })),
        );
      }),
    );
  });

  test('is read by the library, and a batch of the library is read here', async () => {
    const Decoder = original('protocol/decoder') as new (bytes: Buffer) => object;
    const ofLibrary = original('protocol/recordBatch/v0/decoder') as (decoder: object) => Promise<{
      records: readonly { offset: string; timestamp: string; key: Buffer; value: Buffer }[];
    }>;
    const { RecordBatch } = original('protocol/recordBatch/v0/index') as {
      RecordBatch: (batch: object) => Promise<{ buffer: Buffer }>;
    };
    const record = original('protocol/recordBatch/record/v0/index') as (record: object) => object;
    const written = [1, 2, 3].map((nth) => ({
      key: `k${nth}`,
      value: 'v'.repeat(nth),
      headers: { h: `${nth}` },
    }));
    const ours = await ofLibrary(new Decoder(await batchOf(written)));
    assert.deepEqual(
      ours.records.map(({ offset, key, value }) => [offset, key.toString(), value.toString()]),
      written.map(({ key, value }, place) => [String(place), key, value]),
    );
    const { buffer } = await RecordBatch({
      firstTimestamp: 1_700_000_000_000,
      maxTimestamp: 1_700_000_000_007,
      lastOffsetDelta: 2,
      records: written.map((fields, place) =>
        record({ ...fields, offsetDelta: place, timestampDelta: place - 9 }),
      ),
    });
    assert.deepEqual(
      decode(buffer).records.map(({ offset, timestamp, key, headers }) => [
        offset,
        timestamp,
        String(key),
        String(headers[0]?.[1]),
      ]),
      written.map(({ key, headers }, place) => [place, 1_700_000_000_000 + place - 9, key, headers.h]),
    );
  });

  for (const [what, codec, compress] of codecs) {
    test(`in ${what} is read`, async () => {
      const plain = await batchOf([{ key: 'k', value: 'value '.repeat(20_000) }]);
      const { records } = decode(withRecords(plain, codec, compress(plain.subarray(61))));
      assert.deepEqual(
        records.map(({ value }) => value?.length),
        [120_000],
      );
    });

    test(`in ${what} that would be too large is refused before its memory is allocated`, async () => {
      const plain = await batchOf([{ key: 'k', value: 'v'.repeat(4 * 2 ** 20) }]);
      const batch = withRecords(plain, codec, compress(plain.subarray(61)));
      const [record] = decode(batch, 2 ** 20).records;
      assert.equal(record?.unreadable?.reason, 'too-large-decoded');
    });
  }

  test('with any damage is read or is one unreadable batch, and never throws', async () => {
    const plain = await batchOf(
      Array.from({ length: 5 }, (_, nth) => ({
        key: 'k',
        value: `value ${nth}`,
        headers: [['a', 'b']] as const,
      })),
    );
    const all = [
      plain,
      ...codecs.map(([, codec, compress]) => withRecords(plain, codec, compress(plain.subarray(61)))),
    ];
    const places = fc.nat(200);
    fc.assert(
      fc.property(
        fc.constantFrom(...all),
        places,
        fc.nat(255),
        fc.boolean(),
        (batch, place, byte, rightChecksum) => {
          const damaged = Buffer.from(batch);
          const at = 21 + (place % (batch.length - 21));
          damaged[at] = byte;
          if (rightChecksum) damaged.writeUInt32BE(crc32c(damaged.subarray(21)), 17);
          const { records, cost } = decode(damaged, 2 ** 20);
          assert.ok(records.length > 0 || damaged.readInt32BE(57) <= 0);
          assert.ok(cost < 2 ** 21);
          if (!rightChecksum && byte !== batch[at])
            assert.equal(records[0]?.unreadable?.reason, 'undecodable');
        },
      ),
      { numRuns: 5_000 },
    );
  });

  test('whose last records were compacted is skipped to its end', async () => {
    const batch = Buffer.from(await batchOf([{ key: 'k', value: 'v' }]));
    batch.writeInt32BE(7, 23);
    batch.writeUInt32BE(crc32c(batch.subarray(21)), 17);
    assert.deepEqual(
      decode(batch).records.map(({ offset, isControlRecord }) => [offset, isControlRecord]),
      [
        [0, false],
        [7, true],
      ],
    );
  });

  test('of hundreds of thousands of empty records is too large, although each has few bytes', async () => {
    const plain = await batchOf(Array.from({ length: 400_000 }, () => ({ key: null, value: null })));
    const batch = withRecords(plain, 4, zstdCompressSync(plain.subarray(61)));
    assert.deepEqual(
      decode(batch).records.map(({ offset, unreadable }) => [offset, unreadable?.reason]),
      [[399_999, 'too-large-decoded']],
    );
  });

  test('with a hundred thousand headers on a record is decoded in linear time', async () => {
    const headers = Array.from({ length: 50_000 }, (_, nth): [string, string] => [`h${nth}`, '']);
    const batch = await batchOf([{ key: 'k', value: 'v', headers }]);
    const before = process.cpuUsage();
    assert.equal(decode(batch).records[0]?.headers.length, 50_000);
    assert.ok(process.cpuUsage(before).user < 1_000_000);
  });
});

test('a batch whose records have offsets that go back, or beyond its end, is unreadable', async () => {
  for (const [place, delta] of [
    [0, 100],
    [1, 0],
    [1, 2],
  ] as const) {
    const batch = Buffer.from(
      await batchOf([
        { key: null, value: 'a' },
        { key: null, value: 'b' },
      ]),
    );
    // Each record: length, attributes, time delta, offset delta (zigzag) and the rest.
    const recordLength = 1 + (batch[61] ?? 0) / 2;
    batch[61 + place * recordLength + 3] = delta * 2 > 127 ? 126 : delta * 2;
    batch.writeUInt32BE(crc32c(batch.subarray(21)), 17);
    assert.equal(decode(batch).records[0]?.unreadable?.reason, 'undecodable', `${place} ${delta}`);
  }
});
