import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultRateLimitBytes, type Source } from '@tailrace/config';
import fc from 'fast-check';
import { createRateLimits } from './rate-limit.ts';

function source(limits: Pick<Source, 'rateLimit' | 'rateLimitBytes'> = {}): Source {
  return { id: 'web', writeKeys: ['wk'], enabled: true, ...limits };
}

test('14.8 a source without a limit may send any number of calls within the default limit of bytes', () => {
  const limits = createRateLimits({ sharedCalls: 0, now: () => 0 });
  for (let i = 0; i < 100; i++) assert.equal(limits.consume(source(), 2_500, 1), 0);
  assert.equal(limits.consume(source(), 1, defaultRateLimitBytes), 0);
  assert.equal(limits.consume(source(), 1, 1), 1);
});

test('a source may send its whole limit in one burst, and then at its rate', () => {
  let now = 0;
  const limits = createRateLimits({ sharedCalls: 0, now: () => now });
  const web = source({ rateLimit: 10 });
  for (let i = 0; i < 10; i++) assert.equal(limits.consume(web, 1, 1), 0);
  assert.equal(limits.consume(web, 1, 1), 1);
  now = 100;
  assert.equal(limits.consume(web, 1, 1), 0);
  assert.equal(limits.consume(web, 1, 1), 1);
});

test('14.8 bytes are limited beside calls, and a request that one of the limits refuses uses nothing of the other', () => {
  let now = 0;
  const limits = createRateLimits({ sharedCalls: 0, now: () => now });
  const web = source({ rateLimit: 10, rateLimitBytes: 2_000 });
  assert.equal(limits.consume(web, 1, 2_000), 0);
  for (let i = 0; i < 20; i++) assert.equal(limits.consume(web, 1, 500), 1);
  now = 500;
  assert.equal(limits.consume(web, 9, 1), 0);
});

test('14.9 a batch larger than the limit passes at the pace of the limit, and single calls pass meanwhile', () => {
  let now = 0;
  const limits = createRateLimits({ sharedCalls: 0, now: () => now });
  const web = source({ rateLimit: 5 });
  assert.equal(limits.consume(web, 2_500, 1), 500);
  assert.equal(limits.consume(web, 1, 1), 0);
  now = 250_000;
  // The single call has cost a fifth of a second.
  assert.equal(limits.consume(web, 2_500, 1), 251);
  now = 501_000;
  assert.equal(limits.consume(web, 2_500, 1), 0);
  assert.equal(limits.consume(web, 1, 1), 0);
  assert.equal(limits.consume(web, 2_500, 1), 501);
});

test('14.9 a large batch passes although its source sends more single calls than its limit', () => {
  let now = 0;
  const limits = createRateLimits({ sharedCalls: 0, now: () => now });
  const web = source({ rateLimit: 10 });
  let singles = 0;
  let batches = 0;
  for (; now < 100_000; now += 50) {
    if (limits.consume(web, 1, 1) === 0) singles += 1;
    if (now % 1_000 === 0 && limits.consume(web, 100, 1) === 0) batches += 1;
  }
  assert.ok(batches >= 4, `${batches} batches`);
  assert.ok(singles >= 400, `${singles} single calls`);
});

test('14.8 while other sources send, a source without a limit has the shared one', () => {
  let now = 0;
  const limits = createRateLimits({ sharedCalls: 5_000, now: () => now });
  const [web, app] = [source(), { ...source(), id: 'app' }];
  const passed = (of: Source, tries: number): number =>
    Array.from({ length: tries }, () => limits.consume(of, 100, 1)).filter((seconds) => seconds === 0).length;
  assert.equal(passed(web, 1_000), 1_000, 'alone');
  assert.deepEqual([passed(app, 1), passed(web, 1_000), passed(app, 1_000)], [1, 50, 49]);
  assert.equal(passed({ ...web, id: 'own', rateLimit: 20_000 }, 1_000), 200);
  now = 1_000;
  assert.equal(passed(web, 1_000), 50);
  now = 11_001;
  assert.equal(passed(web, 1_000), 1_000, 'alone again');
});

test('calls take as long as they and their bytes do at the limits, and no time while no other source sends', () => {
  const limits = createRateLimits({ sharedCalls: 2_000, now: () => 0 });
  const web = source({ rateLimitBytes: 1_000 });
  limits.consume(web, 1, 1);
  assert.equal(limits.durationS(web, 4_000, 1), 0);
  limits.consume({ ...web, id: 'app' }, 1, 1);
  assert.equal(limits.durationS(web, 4_000, 1), 2);
  assert.equal(limits.durationS({ ...web, rateLimit: 100 }, 4_000, 1), 40);
  assert.equal(limits.durationS(web, 1, 5_000), 5);
});

test('sources have separate allowances', () => {
  const limits = createRateLimits({ sharedCalls: 0, now: () => 0 });
  const web = source({ rateLimit: 1 });
  limits.consume(web, 1, 1);
  assert.equal(limits.consume({ ...web, id: 'app' }, 1, 1), 0);
});

test('a limit that was lowered holds immediately', () => {
  const limits = createRateLimits({ sharedCalls: 0, now: () => 0 });
  limits.consume(source({ rateLimit: 1_000 }), 1, 1);
  for (let i = 0; i < 5; i++) assert.equal(limits.consume(source({ rateLimit: 5 }), 1, 1), 0);
  assert.equal(limits.consume(source({ rateLimit: 5 }), 1, 1), 1);
});

test('a sender that waits as long as it was told is accepted, whatever fractions of seconds add up to', () => {
  let now = 807;
  const limits = createRateLimits({ sharedCalls: 0, now: () => now });
  for (const calls of [76, 52]) {
    now += limits.consume(source({ rateLimit: 1 }), calls, 1) * 1_000;
    assert.equal(limits.consume(source({ rateLimit: 1 }), calls, 1), 0);
  }
});

test('a sender that waits for Retry-After is accepted, and the limit holds over any period', () => {
  const requests = fc.array(fc.record({ afterMs: fc.nat(3_000), calls: fc.integer({ min: 1, max: 500 }) }));
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100 }), requests, (rateLimit, requests) => {
      let now = 0;
      let passed = 0;
      const limits = createRateLimits({ sharedCalls: 0, now: () => now });
      const web = source({ rateLimit });
      for (const { afterMs, calls } of requests) {
        now += afterMs;
        const seconds = limits.consume(web, calls, 1);
        if (seconds > 0) {
          now += seconds * 1_000;
          assert.equal(limits.consume(web, calls, 1), 0);
        }
        passed += calls;
        // What was in the bucket, what was earned, and a debt of a second.
        assert.ok(passed <= 2 * rateLimit + (now / 1_000) * rateLimit + 1e-6, `${passed} after ${now} ms`);
      }
    }),
  );
});
