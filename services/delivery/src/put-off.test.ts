import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { tierBehind, tierForWait } from './put-off.ts';

const second = 1_000;
const minute = 60 * second;
const tiersMs = [10 * second, minute, 5 * minute, 20 * minute, 60 * minute];

test('a wait is spent in the longest tier that is not longer', () => {
  assert.equal(tierForWait(30 * minute, 0, tiersMs), 20 * minute);
  assert.equal(tierForWait(19 * minute, 1, tiersMs), 5 * minute);
  assert.equal(tierForWait(59 * second, 0, tiersMs), 10 * second);
});

test('a wait shorter than the shortest tier is spent there', () => {
  assert.equal(tierForWait(0, 0, tiersMs), 10 * second);
});

test('a promise that is not kept makes the tier longer each time', () => {
  const tiers = [2, 3, 4, 5, 6].map((times) => tierForWait(0, times, tiersMs));
  assert.deepEqual(
    tiers,
    [1, 5, 20, 60, 60].map((minutes) => minutes * minute),
  );
});

test('a wait of up to an hour is over after five tiers, where the promise is kept', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 60 * minute }),
      fc.double({ min: 0.8, max: 1, noNaN: true }),
      (waitMs, share) => {
        let left = waitMs;
        let times = 0;
        while (left > 0) {
          left -= tierForWait(left, times, tiersMs) * share;
          times += 1;
        }
        assert.ok(times <= 6, `${times}`);
      },
    ),
  );
});

test('a delivery is back right after the one it waits behind, by way of some tiers, and never before', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60 * minute }), (untilMs) => {
      let now = 0;
      let times = 0;
      while (now <= untilMs) {
        const { tierMs, earliestDueAt } = tierBehind(untilMs, now, tiersMs);
        assert.ok(earliestDueAt > now && earliestDueAt <= now + tierMs);
        now = earliestDueAt;
        times += 1;
      }
      assert.ok(now <= untilMs + 1, `${now - untilMs} ms after it`);
      assert.ok(times <= 16, `${times} tiers`);
    }),
  );
});

test('a delivery that waits behind a late one waits for a shortest tier at a time', () => {
  assert.deepEqual(tierBehind(5_000, 5_000, tiersMs), { tierMs: 10_000, earliestDueAt: 13_000 });
});
