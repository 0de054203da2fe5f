import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alsoHeldBy, heldByOf } from './transition.ts';

const waiting = { attempt: 0, heldBy: undefined, reason: undefined };

test('of several causes, the breaker counts before a rate limit, an order and a lane', () => {
  assert.equal(alsoHeldBy(waiting, 'none'), 'none');
  assert.equal(alsoHeldBy(waiting, 'lane'), 'lane');
  assert.equal(alsoHeldBy({ ...waiting, heldBy: 'breaker' }, 'lane'), 'breaker');
  assert.equal(alsoHeldBy({ ...waiting, heldBy: 'lane' }, 'order'), 'order');
  assert.equal(alsoHeldBy({ ...waiting, heldBy: 'order' }, 'rate'), 'rate');
});

test('after the first attempt nothing is noted', () => {
  assert.equal(alsoHeldBy({ ...waiting, attempt: 1, heldBy: 'rate' }, 'breaker'), undefined);
});

test('the reason of a record without the header is enough', () => {
  assert.equal(heldByOf({ ...waiting, reason: 'circuit-open' }), 'breaker');
  assert.equal(heldByOf({ ...waiting, reason: 'behind' }), 'order');
  assert.equal(heldByOf({ ...waiting, reason: 'lane-full' }), 'lane');
});

test('a header with another value counts as none', () => {
  assert.equal(heldByOf({ ...waiting, heldBy: 'user-4711' }), 'none');
});
