import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Credit } from './credit.ts';

test('a new lane may be waited for a while, and for less where it says nothing', () => {
  const answering = new Credit(0);
  answering.charge(1_400, false, 0);
  assert.ok(answering.isLeft(0));
  answering.charge(100, false, 0);
  assert.ok(!answering.isLeft(0));
  const silent = new Credit(0);
  silent.charge(300, true, 0);
  assert.ok(!silent.isLeft(0));
});

test('with quick answers it earns up to ten seconds', () => {
  const credit = new Credit(0);
  for (let count = 0; count < 10_000; count += 1) credit.earn();
  credit.charge(9_999, false, 0);
  assert.ok(credit.isLeft(0));
  for (let count = 0; count < 10_000; count += 1) credit.earn();
  credit.charge(1, false, 0);
  assert.ok(!credit.isLeft(0));
});

test('what is used up is trusted again when a second of it is regained', () => {
  const credit = new Credit(0);
  credit.charge(5_000, false, 0);
  assert.ok(!credit.isLeft(9_999));
  assert.ok(credit.isLeft(10_000));
});

test('a lane that is waited for as often as it can be makes others wait for little more than a tenth of the time', () => {
  const credit = new Credit(0);
  for (let count = 0; count < 1_000; count += 1) credit.earn();
  let pausedMs = 0;
  for (let now = 0; now < 600_000; now += 100) {
    if (!credit.isLeft(now)) continue;
    credit.charge(100, false, now);
    pausedMs += 100;
  }
  assert.ok(pausedMs < 10_000 + 75_000, `${pausedMs}`);
});
