import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Source } from '@tailrace/config';
import fc from 'fast-check';
import { createRateLimits } from './rate-limit.ts';

function source(rateLimit?: number): Source {
  return { id: 'web', writeKeys: ['wk'], enabled: true, ...(rateLimit !== undefined && { rateLimit }) };
}

test('a source without a limit may send any number of calls', () => {
  const limits = createRateLimits(() => 0);
  for (let i = 0; i < 100; i++) assert.equal(limits.consume(source(), 2_500), 0);
});

test('a source may send its whole limit in one burst, and then at its rate', () => {
  let now = 0;
  const limits = createRateLimits(() => now);
  for (let i = 0; i < 10; i++) assert.equal(limits.consume(source(10), 1), 0);
  assert.equal(limits.consume(source(10), 1), 1);
  now = 100;
  assert.equal(limits.consume(source(10), 1), 0);
  assert.equal(limits.consume(source(10), 1), 1);
});

test('a batch larger than the limit passes, and leaves a debt', () => {
  let now = 0;
  const limits = createRateLimits(() => now);
  assert.equal(limits.consume(source(10), 100), 0);
  const seconds = limits.consume(source(10), 1);
  assert.equal(seconds, 10);
  now = seconds * 1_000;
  assert.equal(limits.consume(source(10), 1), 0);
});

test('sources have separate allowances', () => {
  const limits = createRateLimits(() => 0);
  limits.consume(source(1), 5);
  assert.equal(limits.consume({ ...source(1), id: 'app' }, 1), 0);
});

test('a sender that waits for Retry-After is accepted, and the limit holds over any period', () => {
  const requests = fc.array(fc.record({ afterMs: fc.nat(3_000), calls: fc.integer({ min: 1, max: 50 }) }));
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100 }), requests, (rateLimit, requests) => {
      let now = 0;
      let passed = 0;
      const limits = createRateLimits(() => now);
      for (const { afterMs, calls } of requests) {
        now += afterMs;
        const seconds = limits.consume(source(rateLimit), calls);
        if (seconds > 0) {
          now += seconds * 1_000;
          assert.equal(limits.consume(source(rateLimit), calls), 0);
        }
        // Earlier requests leave at least one call of the allowance. This request may leave a debt.
        assert.ok(passed + 1 <= rateLimit + (now / 1_000) * rateLimit + 1e-6);
        passed += calls;
      }
    }),
  );
});
