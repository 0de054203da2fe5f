import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { original, patched } from '../testing/original.ts';
import type { FetchRequest } from './fetch-request.ts';

interface Encoded {
  readonly buffer: Buffer;
}

interface LibraryDecoder {
  readInt8(): number;
  readInt32(): number;
  readInt64(): { toString(): string };
  readString(): string | null;
  readArray<T>(read: (decoder: LibraryDecoder) => T): T[];
  readAll(): Buffer;
}

const Decoder = original('protocol/decoder') as new (bytes: Buffer) => LibraryDecoder;

const limits = { replicaId: -1, maxWaitTime: 500, minBytes: 1, maxBytes: 1_000, isolationLevel: 1 };

async function encode(load: typeof original, options: FetchRequest): Promise<Buffer> {
  type Make = (options: FetchRequest) => { encode(): Promise<Encoded> };
  const { buffer } = await (load('protocol/requests/fetch/v11/request') as Make)(options).encode();
  return buffer;
}

test('a request for one partition has the same bytes as that of the original', async () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 300 });
  await fc.assert(
    fc.asyncProperty(text, fc.nat(99), fc.nat(), async (topic, partition, offset) => {
      const partitions = [{ partition, fetchOffset: String(offset), maxBytes: 7 }];
      const options = { ...limits, topics: [{ topic, partitions }], rackId: '' };
      assert.deepEqual(await encode(patched, options), await encode(original, options));
    }),
  );
});

/** The partitions that may come first in a request for six, each of which it names once. */
async function firstsOf(load: typeof original): Promise<Set<string>> {
  const partitions = [0, 1, 2].map((partition) => ({ partition, fetchOffset: '5', maxBytes: 9 }));
  const topics = ['a', 'b'].map((topic) => ({ topic, partitions }));
  const firsts = new Set<string>();
  for (let nth = 0; nth < 500; nth += 1) {
    const decoder = new Decoder(await encode(load, { ...limits, topics }));
    const head = [1, 2, 3, 4].map(() => decoder.readInt32());
    const session = [decoder.readInt8(), decoder.readInt32(), decoder.readInt32()];
    assert.deepEqual([...head, ...session], [-1, 500, 1, 1_000, 1, 0, -1]);
    const named = decoder
      .readArray((topic) => {
        const name = topic.readString() ?? '';
        return topic.readArray((one) => {
          const partition = one.readInt32();
          const rest = [one.readInt32(), Number(one.readInt64()), Number(one.readInt64()), one.readInt32()];
          assert.deepEqual(rest, [-1, 5, -1, 9]);
          return `${name}${partition}`;
        });
      })
      .flat();
    assert.deepEqual(named.toSorted(), ['a0', 'a1', 'a2', 'b0', 'b1', 'b2']);
    firsts.add(named[0] ?? '');
  }
  return firsts;
}

test('a request for many partitions names each once, and may begin with any of them', async () => {
  assert.equal((await firstsOf(patched)).size, 6);
  assert.deepEqual(await firstsOf(original), new Set(['a0']), 'the original begins with the same one always');
});

test('a request is encoded in one buffer', async (t) => {
  const partitions = Array.from({ length: 100 }, (_, partition) => ({
    partition,
    fetchOffset: '5',
    maxBytes: 9,
  }));
  const allocated = async (load: typeof original): Promise<number> => {
    const alloc = t.mock.method(Buffer, 'alloc');
    await encode(load, { ...limits, topics: [{ topic: 'a', partitions }] });
    const bytes = alloc.mock.calls.reduce((sum, { arguments: [size] }) => sum + size, 0);
    alloc.mock.restore();
    return bytes;
  };
  assert.ok((await allocated(original)) > 100 * 500);
  assert.ok((await allocated(patched)) < 10);
});
