import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Credit } from './credit.ts';

const terms = { firstMs: 1_500, mostMs: 30_000, regained: 0.1 };

function earnAll(credit: Credit): void {
  for (let count = 0; count < 10_000; count += 1) credit.earn();
}

test('a lane begins with some credit, and earns more with each quick answer, up to a limit', () => {
  const fresh = new Credit(terms, 0);
  fresh.charge(1_499, 0);
  assert.ok(fresh.isLeft(0));
  fresh.charge(1, 0);
  assert.ok(!fresh.isLeft(0));

  const earned = new Credit(terms, 0);
  earnAll(earned);
  earned.charge(29_999, 0);
  assert.ok(earned.isLeft(0));
  earnAll(earned);
  earned.charge(1, 0);
  assert.ok(!earned.isLeft(0));
});

test('exhausted credit counts again when a second of it is regained, which takes longer where little was earned', () => {
  const earned = new Credit(terms, 0);
  earnAll(earned);
  earned.exhaust(0);
  assert.ok(!earned.isLeft(9_999));
  assert.ok(earned.isLeft(10_001));

  const fresh = new Credit(terms, 0);
  fresh.exhaust(0);
  assert.ok(!fresh.isLeft(199_000));
  assert.ok(fresh.isLeft(201_000));
});

test('a lane that always uses its credit delays others for a tenth of the time in the long run', () => {
  const credit = new Credit(terms, 0);
  earnAll(credit);
  let pausedMs = 0;
  for (let now = 0; now < 600_000; now += 100) {
    if (!credit.isLeft(now)) continue;
    credit.charge(100, now);
    pausedMs += 100;
  }
  assert.ok(pausedMs < 30_000 + 75_000, `${pausedMs}`);
});
