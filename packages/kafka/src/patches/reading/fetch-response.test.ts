import assert from 'node:assert/strict';
import { test } from 'node:test';
import { original, patched } from '../testing/original.ts';
import { encodeProduceRequest } from '../writing/produce-request.ts';

interface Decoded {
  readonly responses: readonly {
    readonly partitions: readonly {
      readonly partition: number;
      readonly messages: readonly {
        readonly value: Buffer | null;
        readonly unreadable?: { reason: string };
      }[];
    }[];
  }[];
}

interface Response {
  readonly decode: (payload: Buffer) => Promise<Decoded>;
}

const { decode: decodeByOriginal } = original('protocol/requests/fetch/v11/response') as Response;
const { decode: decodeByPatched } = patched('protocol/requests/fetch/v11/response') as Response;

async function batchOf(value: string): Promise<Buffer> {
  const messages = [{ key: null, value }];
  const topicData = [{ topic: 't', partitions: [{ partition: 0, firstSequence: 0, messages }] }];
  const request = await encodeProduceRequest({ acks: -1, timeout: 1, topicData });
  // Transactional id, acks, timeout; counts, a name of one letter, the partition and the size.
  return request.subarray(2 + 2 + 4 + 4 + 3 + 4 + 4 + 4);
}

interface Encoder {
  readonly buffer: Buffer;
  writeInt16(value: number): Encoder;
  writeInt32(value: number): Encoder;
  writeInt64(value: number): Encoder;
  writeString(value: string): Encoder;
  writeBytes(value: Buffer): Encoder;
}

/** A response with one topic, and these batches in its partitions. */
function responseWith(batches: readonly Buffer[]): Buffer {
  const Encoder = original('protocol/encoder') as new (size: number) => Encoder;
  const encoder = new Encoder(1_000_000)
    .writeInt32(0)
    .writeInt16(0)
    .writeInt32(0)
    .writeInt32(1)
    .writeString('t');
  encoder.writeInt32(batches.length);
  for (const [partition, batch] of batches.entries()) {
    encoder.writeInt32(partition).writeInt16(0).writeInt64(1).writeInt64(1).writeInt64(0);
    encoder.writeInt32(0).writeInt32(-1).writeBytes(batch);
  }
  return encoder.buffer;
}

const valuesOf = ({ responses }: Decoded) =>
  responses[0]?.partitions.map(({ messages }) =>
    messages.map(({ value, unreadable }) => unreadable?.reason ?? String(value)),
  );

test('a response is read as by the original', async () => {
  const response = responseWith([await batchOf('a'), await batchOf('b')]);
  assert.deepEqual(valuesOf(await decodeByOriginal(response)), [['a'], ['b']]);
  assert.deepEqual(valuesOf(await decodeByPatched(response)), [['a'], ['b']]);
});

test('a batch that cannot be decoded does not fail the other partitions', async () => {
  const unknown = Buffer.from(await batchOf('a'));
  unknown.writeInt16BE(3, 21);
  const response = responseWith([unknown, await batchOf('b')]);
  await assert.rejects(decodeByOriginal(response), /LZ4/);
  assert.deepEqual(valuesOf(await decodeByPatched(response)), [['undecodable'], ['b']]);
});

test('a batch with a wrong checksum is not read', async () => {
  const damaged = Buffer.from(await batchOf('a'));
  damaged.write('x', damaged.indexOf('a', 61));
  const response = responseWith([damaged]);
  assert.deepEqual(valuesOf(await decodeByOriginal(response)), [['x']], 'the original does not look');
  assert.deepEqual(valuesOf(await decodeByPatched(response)), [['undecodable']]);
});
