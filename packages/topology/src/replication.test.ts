import assert from 'node:assert/strict';
import test from 'node:test';
import { replicationFor } from './replication.ts';

test('by default there are three copies and two must have a record, or as many as there are brokers', () => {
  assert.deepEqual(replicationFor(1, undefined), { factor: 1, minInSync: 1 });
  assert.deepEqual(replicationFor(2, undefined), { factor: 2, minInSync: 1 });
  assert.deepEqual(replicationFor(3, undefined), { factor: 3, minInSync: 2 });
  assert.deepEqual(replicationFor(9, undefined), { factor: 3, minInSync: 2 });
});

test('an unavailable broker does not lower the factor of existing topics', () => {
  assert.deepEqual(replicationFor(2, undefined, [3, 1]), { factor: 3, minInSync: 2 });
  assert.deepEqual(replicationFor(5, undefined, [5]), { factor: 3, minInSync: 2 });
});

test('TAILRACE_REPLICATION is used as it is, and more than half of the copies must have a record', () => {
  assert.deepEqual(
    [1, 2, 3, 4, 5].map((asked) => replicationFor(3, asked).minInSync),
    [1, 1, 2, 3, 3],
  );
  assert.equal(replicationFor(1, 3).factor, 3);
});
