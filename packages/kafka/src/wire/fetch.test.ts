import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeFetchRequest, type FetchRequest } from './fetch-request.ts';
import { FetchedBatch } from './group.ts';
import { frameRequest, type FramedRequest } from './network.ts';

const require = createRequire(import.meta.url);

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

interface LibraryBatch {
  readonly messages: readonly unknown[];
  isEmpty(): boolean;
  isEmptyDueToFiltering(): boolean;
  firstOffset(): number | null;
  lastOffset(): number | string;
  offsetLag(): string;
  offsetLagLow(): string;
}

const Decoder = require('kafkajs/src/protocol/decoder') as new (bytes: Buffer) => LibraryDecoder;
const fetchRequest = require('kafkajs/src/protocol/requests/fetch/v11/request') as (
  options: FetchRequest,
) => FramedRequest['request'];
const libraryFrame = require('kafkajs/src/protocol/request') as (request: FramedRequest) => Promise<Encoded>;
const LibraryBatch = require('kafkajs/src/consumer/batch') as new (
  topic: string,
  offset: string,
  data: object,
) => LibraryBatch;

const limits = { replicaId: -1, maxWaitTime: 500, minBytes: 1, maxBytes: 1_000, isolationLevel: 1 };

test('a request for one partition has the same bytes as that of the library, including the frame', async () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 300 });
  await fc.assert(
    fc.asyncProperty(text, text, fc.nat(99), fc.nat(), async (topic, clientId, partition, offset) => {
      const partitions = [{ partition, fetchOffset: String(offset), maxBytes: 7 }];
      const options = { ...limits, topics: [{ topic, partitions }], rackId: '' };
      const request = fetchRequest(options);
      const ours = encodeFetchRequest(options);
      assert.deepEqual(ours, (await request.encode()).buffer);
      const framed = { correlationId: offset, clientId, request };
      assert.deepEqual((await frameRequest(framed)).buffer, (await libraryFrame(framed)).buffer);
    }),
  );
});

test('a request for many partitions names each once, and may begin with any of them', () => {
  const partitions = [0, 1, 2].map((partition) => ({ partition, fetchOffset: '5', maxBytes: 9 }));
  const topics = ['a', 'b'].map((topic) => ({ topic, partitions }));
  const firsts = new Set<string>();
  for (let nth = 0; nth < 500; nth += 1) {
    const decoder = new Decoder(encodeFetchRequest({ ...limits, topics }));
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
  assert.equal(firsts.size, 6);
});

test('a batch has the same properties as that of the library, for the same records', () => {
  const record = fc.record({
    step: fc.integer({ min: 1, max: 3 }),
    isControlRecord: fc.boolean(),
    producerId: fc.constantFrom('1', '2'),
    inTransaction: fc.boolean(),
  });
  fc.assert(
    fc.property(
      fc.array(record, { maxLength: 8 }),
      fc.nat(12),
      fc.array(fc.nat(12), { maxLength: 2 }),
      (steps, from, aborted) => {
        let offset = 0;
        const messages = steps.map(({ step, isControlRecord, producerId, inTransaction }) => {
          offset += step;
          const batchContext = { producerId, inTransaction };
          const key = isControlRecord ? Buffer.from([0, 0, 0, 0]) : null;
          return { offset, timestamp: 0, key, value: null, headers: [], isControlRecord, batchContext };
        });
        const data = {
          partition: 3,
          errorCode: 0,
          highWatermark: '40',
          preferredReadReplica: -1,
          messages,
          abortedTransactions: aborted
            .sort()
            .map((first) => ({ producerId: '1', firstOffset: String(first) })),
        };
        const theirs = new LibraryBatch('t', String(from), data);
        const ours = new FetchedBatch('t', String(from), { ...data, bytes: 0 });
        assert.deepEqual(ours.messages, theirs.messages);
        assert.equal(ours.isEmpty(), theirs.isEmpty());
        assert.equal(ours.isEmptyDueToFiltering(), theirs.isEmptyDueToFiltering());
        if (messages.length === 0) return;
        assert.equal(ours.firstOffset(), theirs.firstOffset());
        assert.equal(ours.lastOffset(), Number(theirs.lastOffset()));
        assert.equal(ours.offsetLag(), theirs.offsetLag());
        assert.equal(ours.offsetLagLow(), theirs.offsetLagLow());
      },
    ),
  );
});
