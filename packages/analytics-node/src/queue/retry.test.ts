import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { backoffMs, parseRetryAfter } from './retry.ts';

const anyRandom = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

test('15.4 the delay doubles from 100 ms to 10 s, less up to a half', () => {
  const longest = [1, 2, 3, 7, 8, 1_000].map((failures) => backoffMs(failures, 0, () => 0));
  assert.deepEqual(longest, [100, 200, 400, 6_400, 10_000, 10_000]);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000 }), anyRandom, (failures, random) => {
      const full = backoffMs(failures, 0, () => 0);
      const waitMs = backoffMs(failures, 0, () => random);
      assert.ok(waitMs >= full / 2 && waitMs <= full);
    }),
  );
});

test('the delay is never shorter than the server requested, nor much longer', () => {
  const anyAsked = fc.integer({ min: 1, max: 300_000 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100 }), anyAsked, anyRandom, (failures, askedMs, random) => {
      const waitMs = backoffMs(failures, askedMs, () => random);
      assert.ok(waitMs >= askedMs && waitMs <= askedMs + Math.ceil(askedMs / 10));
    }),
  );
});

test('Retry-After is read as seconds or as a date, and bounded to five minutes', () => {
  const now = Date.parse('2026-11-21T07:00:00Z');
  const cases: readonly (readonly [string | undefined, number])[] = [
    [undefined, 0],
    ['3', 3_000],
    [' 0 ', 0],
    ['86400', 300_000],
    ['Sat, 21 Nov 2026 07:00:05 GMT', 5_000],
    ['Sat, 21 Nov 2026 06:59:00 GMT', 0],
    ['Sun, 22 Nov 2026 07:00:00 GMT', 300_000],
    ['soon', 0],
    ['', 0],
  ];
  for (const [value, expected] of cases) assert.equal(parseRetryAfter(value, now), expected, value);
});
