import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readExpression, scaleDuration, scaleExpression } from './promql.ts';

test('an expression names its metrics, matchers and the labels that it groups by', () => {
  const { selectors, groupings } = readExpression(
    'sum by (topic) (rate(a_total{reason!~"x|y"}[5m])) / on (topic) group_left b{c="\\\\."}',
  );
  assert.deepEqual(selectors, [
    { metric: 'a_total', matchers: [{ label: 'reason', operator: '!~', value: 'x|y' }] },
    { metric: 'b', matchers: [{ label: 'c', operator: '=', value: '\\.' }] },
  ]);
  assert.deepEqual(groupings, [
    { label: 'topic', metrics: ['a_total'] },
    { label: 'topic', metrics: ['a_total', 'b'] },
  ]);
});

test('what is not PromQL is refused', () => {
  assert.throws(() => readExpression('sum by (a'), /not PromQL/);
  assert.throws(() => readExpression('rate(a[5m]'), /not PromQL/);
});

test('scaling shortens durations and the seconds that a gauge is compared to, and nothing else', () => {
  const scaled = (expr: string): string => scaleExpression(expr, 60);
  assert.equal(
    scaled('increase(a_total[1h] offset 1w) >= 10'),
    'increase(a_total[60000ms] offset 10080000ms) >= 10',
  );
  assert.equal(scaled('max by (x) (lag_seconds) > 60'), 'max by (x) (lag_seconds) > 1');
  assert.equal(scaled('deriv(lag_seconds[5m]) > 0.9'), 'deriv(lag_seconds[5000ms]) > 0.9');
  assert.equal(
    scaled('a_ratio > 0.5 and sum_over_time(b[6h:5m]) > 3'),
    'a_ratio > 0.5 and sum_over_time(b[360000ms:5000ms]) > 3',
  );
  assert.equal(scaleDuration('3d', 60), '4320000ms');
  assert.throws(() => scaleDuration('soon', 60), /not a duration/);
});
