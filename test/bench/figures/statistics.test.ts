import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { distribution, isFlat, median, percentile, spread, trend } from './statistics.ts';

const sorted = (values: readonly number[]): Float64Array => Float64Array.from(values).sort();
const values = fc.array(fc.double({ noNaN: true, min: -1e9, max: 1e9 }), { minLength: 1, maxLength: 200 });

test('percentiles are nearest ranks, without interpolation', () => {
  const hundred = sorted(Array.from({ length: 100 }, (_, index) => index + 1));
  assert.equal(percentile(hundred, 50), 50);
  assert.equal(percentile(hundred, 99), 99);
  assert.equal(percentile(hundred, 100), 100);
  assert.equal(percentile(sorted([7]), 1), 7);
  assert.equal(percentile(sorted([1, 2]), 99), 2);
});

test('a percentile is the smallest value that the given share of values does not exceed', () => {
  fc.assert(
    fc.property(values, fc.integer({ min: 1, max: 100 }), (sample, percent) => {
      const found = percentile(sorted(sample), percent);
      const share = (bound: number): number =>
        (sample.filter((value) => value <= bound).length / sample.length) * 100;
      assert.ok(share(found) >= percent - 1e-9);
      const smaller = sample.filter((value) => value < found);
      for (const value of smaller) assert.ok(share(value) < percent);
    }),
  );
});

test('a distribution ignores missing values, and is NaN without values', () => {
  assert.deepEqual(distribution([3, NaN, 1, 2]), { p50: 2, p99: 3, max: 3 });
  assert.deepEqual(distribution([NaN]), { p50: NaN, p99: NaN, max: NaN });
});

test('the median is the middle value, or the mean of the two in the middle', () => {
  assert.equal(median([5, 1, 3]), 3);
  assert.equal(median([4, 1, 3, 2]), 2.5);
  assert.ok(Number.isNaN(median([])));
  assert.deepEqual(spread([300, 100, 200]), { median: 200, min: 100, max: 300 });
});

test('the median has as many values below it as above', () => {
  fc.assert(
    fc.property(values, (sample) => {
      const middle = median(sample);
      assert.ok(sample.filter((value) => value < middle).length <= sample.length / 2);
      assert.ok(sample.filter((value) => value > middle).length <= sample.length / 2);
    }),
  );
});

test('a trend compares the medians of the first and last third, regardless of single samples', () => {
  assert.deepEqual(trend([10, 10, 90, 20, 20, 20, 30, 5, 30]), { first: 10, last: 30, max: 90 });
  assert.deepEqual(trend([10]), { first: 10, last: 10, max: 10 });
});

test('memory is flat if the last third is at most a tenth above the first', () => {
  assert.ok(isFlat(trend([100, 100, 100, 150, 150, 150, 110, 110, 110])));
  assert.ok(!isFlat(trend([100, 100, 100, 100, 100, 100, 111, 111, 111])));
});
