import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { RateLimiter } from './rate-limiter.ts';

test('the first is let through at once, and each next after its share of a second', () => {
  let now = 5_000;
  const pace = new RateLimiter(10, () => now);
  assert.equal(pace.waitMs, 0);
  pace.spend(5);
  assert.equal(pace.waitMs, 500);
  now += 200;
  assert.equal(pace.waitMs, 300);
  now += 300;
  assert.equal(pace.waitMs, 0);
});

test('time that was lost is not made up for', () => {
  let now = 0;
  const pace = new RateLimiter(10, () => now);
  pace.spend(1);
  now += 60_000;
  pace.spend(1);
  assert.equal(pace.waitMs, 100);
});

test('whatever happens in between, no span of time sees more than the rate, and one portion', () => {
  const portion = fc.record({ count: fc.integer({ min: 1, max: 50 }), delayMs: fc.nat({ max: 300 }) });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000 }), fc.array(portion, { minLength: 1 }), (rate, portions) => {
      let now = 0;
      const pace = new RateLimiter(rate, () => now);
      const spent: { at: number; count: number }[] = [];
      for (const { count, delayMs } of portions) {
        now += delayMs;
        now += pace.waitMs;
        pace.spend(count);
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
