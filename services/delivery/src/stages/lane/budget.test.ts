import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Budget, type Standing } from './budget.ts';

const nothing = { count: 0, bytes: 0 };

/** Lets `many` lanes acquire in turn until none may have more, and returns how much each has. */
function fill(budget: Budget, many: number, standing: Standing): number[] {
  const held = Array.from({ length: many }, () => 0);
  for (let took = true; took;) {
    took = false;
    for (const [asker, count] of held.entries()) {
      if (!budget.admits({ count, bytes: 0 }, standing)) continue;
      budget.acquire(0);
      held[asker] = count + 1;
      took = true;
    }
  }
  return held;
}

test('a lane may hold as much as is free: half of it alone, and an equal part among many', () => {
  assert.deepEqual(fill(new Budget({ count: 100, bytes: 1 }, 0), 1, 'quick'), [50]);
  const ten = fill(new Budget({ count: 1_100, bytes: 1 }, 0), 10, 'quick');
  assert.ok(
    ten.every((count) => count >= 100 && count <= 101),
    ten.join(),
  );
});

test('with any number of lanes below the total, something is left for the next one', () => {
  const budget = new Budget({ count: 1_000, bytes: 1 }, 0);
  fill(budget, 900, 'quick');
  assert.ok(budget.admits(nothing, 'quick'));
});

test('the reserve is left to quick lanes, and new ones may use half of it', () => {
  const budget = new Budget({ count: 1_000, bytes: 1 }, 0.5);
  fill(budget, 5_000, 'slow');
  assert.equal(budget.count, 500);
  assert.ok(!budget.admits(nothing, 'slow'));
  fill(budget, 5_000, 'new');
  assert.equal(budget.count, 750);
  assert.ok(budget.admits({ count: 200, bytes: 0 }, 'quick'));
});

test('bytes are limited as well as the count', () => {
  const budget = new Budget({ count: 1_000, bytes: 100 }, 0);
  for (let count = 0; count < 6; count += 1) budget.acquire(10);
  assert.equal(budget.fill, 0.6);
  assert.ok(budget.admits({ count: 1, bytes: 39 }, 'quick'));
  assert.ok(!budget.admits({ count: 1, bytes: 40 }, 'quick'));
  budget.release(10);
  assert.ok(budget.admits({ count: 1, bytes: 40 }, 'quick'));
});
