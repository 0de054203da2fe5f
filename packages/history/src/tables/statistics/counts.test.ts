import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addCounts, countAttempt, noCounts, parseCounts, percentile } from './counts.ts';

test('a percentile is within 2.5 % of the true one', () => {
  const latencies = fc.array(fc.double({ min: 0.1, max: 60_000, noNaN: true }), {
    minLength: 1,
    maxLength: 200,
  });
  fc.assert(
    fc.property(latencies, fc.constantFrom(0.5, 0.95, 0.99), (given, share) => {
      const counts = noCounts();
      for (const latencyMs of given) countAttempt(counts, 'delivered', latencyMs);
      const sorted = given.toSorted((a, b) => a - b);
      const exact = sorted[Math.ceil(sorted.length * share) - 1] ?? NaN;
      const found = percentile(counts, share) ?? NaN;
      // 0.005 is for rounding to three digits.
      assert.ok(Math.abs(found / exact - 1) <= 0.025 + 0.005, `${found} for ${exact}`);
    }),
  );
});

test('counts add up, and survive serialization', () => {
  const [one, other] = [noCounts(), noCounts()];
  countAttempt(one, 'retry', 10);
  countAttempt(other, 'retry', 10);
  countAttempt(other, 'delivered', 2_000);
  addCounts(one, parseCounts(JSON.stringify(other)));
  assert.deepEqual(one.outcomes, { retry: 2, delivered: 1 });
  assert.equal(percentile(one, 0.5), percentile({ ...other, latencies: { ...one.latencies } }, 0.5));
  assert.equal(percentile(noCounts(), 0.5), undefined);
});
