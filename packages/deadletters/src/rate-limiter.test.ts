import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { RateLimiter } from './rate-limiter.ts';

test('the first work does not wait, and the next waits for its share of a second', () => {
  let now = 5_000;
  const limiter = new RateLimiter(() => now);
  assert.equal(limiter.waitMs, 0);
  limiter.spend(5, 10);
  assert.equal(limiter.waitMs, 500);
  now += 200;
  assert.equal(limiter.waitMs, 300);
  now += 300;
  assert.equal(limiter.waitMs, 0);
});

test('a pause is not followed by a burst', () => {
  let now = 0;
  const limiter = new RateLimiter(() => now);
  limiter.spend(1, 10);
  now += 60_000;
  limiter.spend(1, 10);
  assert.equal(limiter.waitMs, 100);
});

test('in any period, at most the rate plus one batch is done', () => {
  const batch = fc.record({ count: fc.integer({ min: 1, max: 50 }), delayMs: fc.nat({ max: 300 }) });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000 }), fc.array(batch, { minLength: 1 }), (rate, batches) => {
      let now = 0;
      const limiter = new RateLimiter(() => now);
      const spent: { at: number; count: number }[] = [];
      for (const { count, delayMs } of batches) {
        now += delayMs;
        now += limiter.waitMs;
        limiter.spend(count, rate);
        spent.push({ at: now, count });
      }
      for (const [first, { at: begin }] of spent.entries()) {
        let sum = 0;
        for (const { at, count } of spent.slice(first)) {
          assert.ok(sum <= ((at - begin) / 1_000) * rate + 1e-6);
          sum += count;
        }
      }
    }),
  );
});
