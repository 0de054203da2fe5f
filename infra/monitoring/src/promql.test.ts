import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addMatchers } from './promql.ts';

test('matchers are added to every selector, and the durations of Grafana stay', () => {
  assert.equal(
    addMatchers('rate(a[$__rate_interval]) / b{} > on() c{x="}"}', () => ['n="$v"']),
    'rate(a{n="$v"}[$__rate_interval]) / b{n="$v"} > on() c{x="}", n="$v"}',
  );
});
