import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulate } from './clusters.ts';
import { million } from './page.ts';

test('events in a simulation are handled or wait: none is lost', () => {
  for (const lostAt of [Infinity, 10]) {
    const result = simulate({ ...million, sources: 2_000, seconds: 30, lostAt });
    assert.ok(Math.abs(result.arrived - result.handled - result.backlog) < 1);
    assert.ok(Math.abs(result.arrived - 30 * million.eventsPerSecond) < 1);
    assert.equal(result.movedNeedlessly, 0);
  }
});

test('a million events a second fit into 16 clusters, also when one of them is lost', () => {
  for (const lostAt of [Infinity, 30]) {
    const result = simulate({ ...million, seconds: 60, lostAt });
    assert.ok(result.busiestAfterLoss < million.capacity, String(result.busiestAfterLoss));
    assert.ok(Math.abs(result.backlog) < 1);
  }
});

test('a source that is larger than a cluster builds up a backlog, however many clusters there are', () => {
  const result = simulate({ ...million, sources: 1_000, exponent: 2, clusters: 60, seconds: 30 });
  assert.ok(result.largestSourceShare * million.eventsPerSecond > million.capacity);
  assert.ok(result.backlog > 0);
});
