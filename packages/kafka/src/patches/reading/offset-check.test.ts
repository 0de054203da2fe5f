import assert from 'node:assert/strict';
import { test } from 'node:test';
import { original, patched } from '../testing/original.ts';

type IsInvalid = (offset: unknown) => boolean;

const theirs = original('consumer/offsetManager/isInvalidOffset') as IsInvalid;
const ours = patched('consumer/offsetManager/isInvalidOffset') as IsInvalid;

test('offsets are checked as by the original, without a BigInt for each', (t) => {
  const offsets = ['0', '7', '-1', '-2', '', 0, 7, -1, null, undefined, String(Number.MAX_SAFE_INTEGER)];
  assert.deepEqual(offsets.map(ours), offsets.map(theirs));
  const created = t.mock.method(globalThis, 'BigInt');
  theirs('7');
  assert.ok(created.mock.callCount() > 0);
  created.mock.resetCalls();
  ours('7');
  assert.equal(created.mock.callCount(), 0);
});
