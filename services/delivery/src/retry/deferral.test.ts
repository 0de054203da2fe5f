import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { deferUntil, tierUntil } from './deferral.ts';

const second = 1_000;
const minute = 60 * second;
const tiersMs = [10 * second, minute, 5 * minute, 20 * minute, 60 * minute];
const now = 1_800_000_000_000;
const nothing = (): number => 0;

test('a wait is spent whole in the shortest tier that is long enough, until the very time', () => {
  for (const [waitMs, tierMs] of [
    [3 * second, 10 * second],
    [11 * second, minute],
    [minute, minute],
    [31 * minute, 60 * minute],
  ] as const) {
    const wait = { tierMs, earliestDueAt: now + waitMs };
    assert.deepEqual(tierUntil(now + waitMs, now, tiersMs, nothing), wait);
  }
});

test('where that tier would hold it up for much longer, a part is spent in a shorter one', () => {
  const lastDueAt = (tierMs: number): number => now + tierMs;
  assert.deepEqual(tierUntil(now + 6 * minute, now, tiersMs, lastDueAt), {
    tierMs: 5 * minute,
    earliestDueAt: now + 5 * minute,
  });
  assert.deepEqual(tierUntil(now + 17 * minute, now, tiersMs, lastDueAt), {
    tierMs: 20 * minute,
    earliestDueAt: now + 17 * minute,
  });
});

test('a wait beyond the longest tier is spent in it as far as it goes', () => {
  assert.deepEqual(tierUntil(now + 90 * minute, now, tiersMs, nothing), {
    tierMs: 60 * minute,
    earliestDueAt: now + 60 * minute,
  });
});

test('what should be possible already is not looked for again at once', () => {
  assert.deepEqual(tierUntil(now, now, tiersMs, nothing), { tierMs: 10_000, earliestDueAt: now + 8_000 });
});

test('every wait ends at its time or up to a quarter later, by way of a few tiers, whatever is in them', () => {
  const busy = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 5, maxLength: 5 });
  fc.assert(
    fc.property(fc.integer({ min: 10 * second, max: 60 * minute }), busy, (waitMs, busy) => {
      let at = now;
      let times = 0;
      while (at < now + waitMs) {
        const lastDueAt = (tierMs: number): number => at + tierMs * (busy[tiersMs.indexOf(tierMs)] ?? 0);
        const { tierMs, earliestDueAt } = tierUntil(now + waitMs, at, tiersMs, lastDueAt);
        const latest = at + tierMs;
        assert.ok(earliestDueAt > at && earliestDueAt <= latest);
        at = Math.min(Math.max(earliestDueAt, lastDueAt(tierMs)), latest);
        times += 1;
      }
      assert.ok(at <= now + waitMs * 1.25 + 10 * second, `${at - now} ms instead of ${waitMs}`);
      assert.ok(times <= 15, `${times} tiers`);
    }),
  );
});

test('whoever is put off waits for the place that was promised, or most of the shortest tier', () => {
  assert.equal(deferUntil(now + minute, 0, now, tiersMs), now + minute);
  assert.equal(deferUntil(now, 1, now, tiersMs), now + 8 * second);
});

test('a promise that is not kept makes the wait longer each time', () => {
  const waits = [2, 3, 4, 5, 6].map((times) => deferUntil(now, times, now, tiersMs) - now);
  assert.deepEqual(
    waits,
    [1, 20, 60, 60, 60].map((minutes) => minutes * minute * 0.8),
  );
});
