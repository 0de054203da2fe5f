import assert from 'node:assert/strict';
import test from 'node:test';
import { Ownership } from './due-times.ts';

test('a partition is owned since the rebalance that assigned it, also after later ones', () => {
  let now = 1_000;
  const ownership = new Ownership(() => now);
  const work = { partition: 3, revoked: false };
  ownership.joined();
  now = 2_000;
  assert.equal(ownership.since(work), 1_000);
  ownership.joined();
  assert.equal(ownership.since({ ...work }), 1_000);
  assert.equal(ownership.since({ partition: 4, revoked: false }), 2_000);
});

test('a partition that was revoked and assigned again is owned since then', () => {
  let now = 1_000;
  const ownership = new Ownership(() => now);
  const before = { partition: 3, revoked: false };
  ownership.joined();
  assert.equal(ownership.since(before), 1_000);
  before.revoked = true;
  now = 60_000;
  ownership.joined();
  now = 70_000;
  assert.equal(ownership.since({ partition: 3, revoked: false }), 60_000);
});
