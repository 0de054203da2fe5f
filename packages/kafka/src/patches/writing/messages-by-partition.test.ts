import assert from 'node:assert/strict';
import { test } from 'node:test';
import { original, patched } from '../testing/original.ts';

type Group = (grouping: object) => Record<number, number[]>;

const messages = Array.from({ length: 100 }, (_, nth) => nth);
const grouping = {
  topic: 't',
  partitionMetadata: [{}, {}],
  messages,
  partitioner: ({ message }: { message: number }) => message % 2,
};

test('messages are grouped without copying those before them', (t) => {
  const theirs = original('producer/groupMessagesPerPartition') as Group;
  const ours = patched('producer/groupMessagesPerPartition') as Group;
  assert.deepEqual(ours(grouping), theirs(grouping));
  const assign = t.mock.method(Object, 'assign');
  theirs(grouping);
  const copied = assign.mock.calls.reduce(
    (sum, call) => sum + (Object.values(call.arguments[1] as object)[0] as number[]).length,
    0,
  );
  assert.equal(copied, 50 * 51, 'the original copies in quadratic number');
  assign.mock.resetCalls();
  ours(grouping);
  assert.equal(assign.mock.callCount(), 0);
});
