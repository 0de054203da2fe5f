import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { original } from '../patches/testing/original.ts';
import { FetchedBatch } from './fetched-batch.ts';

interface LibraryBatch {
  readonly messages: readonly unknown[];
  firstOffset(): number | null;
  lastOffset(): number | string;
  offsetLag(): string;
  offsetLagLow(): string;
}

const LibraryBatch = original('consumer/batch') as new (
  topic: string,
  offset: string,
  data: object,
) => LibraryBatch;

test('a batch has the same records and offsets as that of the library', () => {
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
        if (messages.length === 0) return;
        assert.equal(ours.firstOffset(), theirs.firstOffset());
        assert.equal(ours.lastOffset(), Number(theirs.lastOffset()));
        assert.equal(ours.offsetLag(), theirs.offsetLag());
        assert.equal(ours.offsetLagLow(), theirs.offsetLagLow());
      },
    ),
  );
});
