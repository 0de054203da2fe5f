import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeProduceRequest, readProduceAnswer, type PartitionResult } from './produce.ts';
import { decodeBatch } from './record-batch.ts';

const require = createRequire(import.meta.url);

interface LibraryDecoder {
  readInt16(): number;
  readInt32(): number;
  readString(): string | null;
  readBytes(): Buffer;
  readArray<T>(read: (decoder: LibraryDecoder) => T): T[];
  readAll(): Buffer;
}

const Decoder = require('kafkajs/src/protocol/decoder') as new (bytes: Buffer) => LibraryDecoder;

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

test('an error names the partitions that failed, and the library repeats the request only to find another leader', () => {
  const answer = (...codes: number[]) => ({
    topics: [{ topicName: 't', partitions: codes.map((errorCode, partition) => ({ partition, errorCode })) }],
  });
  const thrown = (...codes: number[]) => {
    try {
      readProduceAnswer(answer(...codes));
    } catch (error) {
      return error as { retriable: boolean; type: string; results: readonly PartitionResult[] };
    }
    return undefined;
  };
  assert.equal(thrown(0, 0), undefined);
  const tooFewReplicas = thrown(0, 19);
  assert.deepEqual(
    tooFewReplicas?.results.map(({ error }) => error),
    [undefined, 'NOT_ENOUGH_REPLICAS'],
  );
  assert.equal(tooFewReplicas.retriable, false);
  assert.equal(thrown(6, 0)?.retriable, true);
  assert.equal(thrown(6, 19)?.retriable, false);
});
