import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeBatch } from '../../wire/record-batch.ts';
import { original, patched } from '../testing/original.ts';
import { encodeProduceRequest } from './produce-request.ts';

interface LibraryDecoder {
  readInt16(): number;
  readInt32(): number;
  readString(): string | null;
  readBytes(): Buffer;
  readArray<T>(read: (decoder: LibraryDecoder) => T): T[];
  readAll(): Buffer;
}

const Decoder = original('protocol/decoder') as new (bytes: Buffer) => LibraryDecoder;

test('a request of any size is read back by the decoder of the library', async () => {
  const value = fc.string({ maxLength: 700 });
  const partitions = fc.uniqueArray(fc.nat(50), { minLength: 1, maxLength: 8 });
  const topics = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 60 }), { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(
      topics,
      partitions,
      fc.array(value, { minLength: 1, maxLength: 4 }),
      async (names, numbers, values) => {
        const topicData = names.map((topic) => ({
          topic,
          partitions: numbers.map((partition) => ({
            partition,
            firstSequence: partition,
            messages: values.map((text) => ({ key: topic, value: text })),
          })),
        }));
        const bytes = await encodeProduceRequest({ acks: -1, timeout: 7, topicData });
        const decoder = new Decoder(bytes);
        assert.deepEqual([decoder.readString(), decoder.readInt16(), decoder.readInt32()], [null, -1, 7]);
        const read = decoder.readArray((topic) => ({
          topic: topic.readString(),
          partitions: topic.readArray((part) => {
            const partition = part.readInt32();
            const batch = part.readBytes();
            const { records } = decodeBatch(batch, 0, batch.length, 2 ** 30);
            return {
              partition,
              sequence: batch.readInt32BE(53),
              values: records.map((record) => String(record.value)),
            };
          }),
        }));
        assert.equal(decoder.readAll().length, 0);
        const asRead = values.map((text) => Buffer.from(text).toString());
        assert.deepEqual(
          read,
          names.map((topic) => ({
            topic: Buffer.from(topic).toString(),
            partitions: numbers.map((partition) => ({ partition, sequence: partition, values: asRead })),
          })),
        );
      },
    ),
    { numRuns: 300 },
  );
});

/** The headers of a record, as they are read from a request. */
async function headersOf(load: typeof original, headers: object): Promise<(string | null)[][]> {
  const messages = [{ key: 'k', value: 'v', headers }];
  const topicData = [{ topic: 't', partitions: [{ partition: 0, firstSequence: 0, messages }] }];
  type Make = (options: object) => { encode(): Promise<{ readonly buffer: Buffer }> };
  const make = load('protocol/requests/produce/v7/request') as Make;
  const { buffer } = await make({ acks: -1, timeout: 7, compression: 0, topicData }).encode();
  // Transactional id, acks, timeout; counts, a name of one letter, the partition and the size.
  const batch = buffer.subarray(2 + 2 + 4 + 4 + 3 + 4 + 4 + 4);
  const [record] = decodeBatch(batch, 0, batch.length, 2 ** 20).records;
  return (record?.headers ?? []).map(([name, value]) => [name, value === null ? null : String(value)]);
}

test('a header may have no value', async () => {
  await assert.rejects(headersOf(original, { a: null }), TypeError);
  assert.deepEqual(await headersOf(patched, [['a', null]]), [['a', null]]);
});

test('headers keep their order', async () => {
  assert.deepEqual(await headersOf(original, { b: '1', 2: '2' }), [
    ['2', '2'],
    ['b', '1'],
  ]);
  const headers = [
    ['b', '1'],
    ['2', '2'],
    ['b', '3'],
  ];
  assert.deepEqual(await headersOf(patched, headers), headers);
});
