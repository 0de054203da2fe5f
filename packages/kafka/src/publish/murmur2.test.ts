import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import test from 'node:test';
import fc from 'fast-check';
import { murmur2, partitionOfKey } from './murmur2.ts';

const require = createRequire(import.meta.url);
const ofLibrary = require('kafkajs/src/producer/partitioners/default/murmur2') as (key: Buffer) => number;

test('16.2 the hash of any key equals that of the library and of Java clients', () => {
  const keys = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
  fc.assert(
    fc.property(keys, (key) => {
      assert.equal(murmur2(key), ofLibrary(key));
    }),
    { numRuns: 2_000 },
  );
});

// Those of Kafka's own UtilsTest.
test('known keys have the hashes that Kafka computes', () => {
  const known = { '21': -973932308, foobar: -790332482, 'a-little-bit-long-string': -985981536 };
  for (const [key, hash] of Object.entries(known)) assert.equal(murmur2(Buffer.from(key)), hash);
});

test('a text and its bytes have the same partition, for any number of partitions', () => {
  for (const partitions of [1, 6, 7, 1_000]) {
    const partition = partitionOfKey('ünïcode', partitions);
    assert.equal(partition, partitionOfKey(Buffer.from('ünïcode'), partitions));
    assert.ok(partition >= 0 && partition < partitions);
  }
});

test('hashing takes linear time: a byte of a megabyte key costs no more than one of a kilobyte key', () => {
  const cpu = (bytes: number, rounds: number): number => {
    const key = Buffer.alloc(bytes, 'k');
    const before = process.cpuUsage();
    for (let round = 0; round < rounds; round += 1) murmur2(key);
    return process.cpuUsage(before).user;
  };
  cpu(1_024, 20_000);
  const small = cpu(1_024, 20_000);
  const large = cpu(1_024 * 1_024, 20);
  // The same number of bytes; that of the library takes a thousand times as long.
  assert.ok(large < small * 20 + 50_000, `${large} µs against ${small} µs`);
});
