import assert from 'node:assert/strict';
import test from 'node:test';
import { parseMetrics } from './metrics.ts';

const text = `# HELP tailrace_consumer_lag_records Records.
# TYPE tailrace_consumer_lag_records gauge
tailrace_consumer_lag_records{topic="a",partition="0"} 3
tailrace_consumer_lag_records{topic="a",partition="1"} 4
tailrace_consumer_lag_records{topic="b",partition="0"} 5
tailrace_deliveries_queued 2
`;

test('a metric is the sum of the samples that have the labels', () => {
  const metrics = parseMetrics(text);
  assert.equal(metrics.sum('tailrace_consumer_lag_records'), 12);
  assert.equal(metrics.sum('tailrace_consumer_lag_records', { topic: 'a' }), 7);
  assert.equal(metrics.sum('tailrace_consumer_lag_records', { topic: 'b', partition: '0' }), 5);
  assert.equal(metrics.sum('tailrace_deliveries_queued'), 2);
});

test('what was never counted is nothing', () => {
  assert.equal(parseMetrics(text).sum('tailrace_dead_letters_total'), 0);
});
