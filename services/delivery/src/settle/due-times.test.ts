import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { deferUntil } from '../transition.ts';
import { tierUntil } from './due-times.ts';

const second = 1_000;
const minute = 60 * second;
const tiersMs = [10 * second, minute, 5 * minute, 20 * minute, 60 * minute];
const now = 1_800_000_000_000;
const nothing = (): number => 0;

test('a whole wait is spent in the shortest retry topic that is long enough, with the exact due time', () => {
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

test('a part of the wait is spent in a shorter retry topic where that one would delay it much longer', () => {
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

test('a wait beyond the longest delay is spent in the longest retry topic first', () => {
  assert.deepEqual(tierUntil(now + 90 * minute, now, tiersMs, nothing), {
    tierMs: 60 * minute,
    earliestDueAt: now + 60 * minute,
  });
});

test('a time that has passed already is not tried again immediately', () => {
  assert.deepEqual(tierUntil(now, now, tiersMs, nothing), { tierMs: 10_000, earliestDueAt: now + 8_000 });
});

test('every wait ends at its time or up to a quarter later, with few rewrites, for any content of the retry topics', () => {
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

test('a deferred delivery waits for its promised turn, or 80 % of the shortest delay', () => {
  assert.equal(deferUntil(now + minute, 0, now, tiersMs), now + minute);
  assert.equal(deferUntil(now, 1, now, tiersMs), now + 8 * second);
});

test('each broken promise makes the wait longer', () => {
  const waits = [2, 3, 4, 5, 6].map((times) => deferUntil(now, times, now, tiersMs) - now);
  assert.deepEqual(
    waits,
    [1, 20, 60, 60, 60].map((minutes) => minutes * minute * 0.8),
  );
});
