import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'node:test';
import type { PartitionLag } from '@tailrace/kafka';
import { observeKafka, watchConsumption, watchPublishers } from './kafka.ts';
import { createMetrics } from './metrics.ts';

const totals = {
  rebalances: 0,
  withoutWorkMs: 0,
  commitFailures: 0,
  untraced: 0,
  expired: new Map<string, number>(),
};

function lagOf(topic: string, partition: number, lag: Partial<PartitionLag> = {}): PartitionLag {
  return { topic, partition, isPaused: false, retentionUsed: undefined, ...lag };
}

/** The values of a text, by series. */
function valuesIn(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
}

test('/metrics contains the lag by topic, and a page the lag by partition', async () => {
  const metrics = createMetrics({ processMetrics: false });
  const partitions = Array.from({ length: 12 * 200 }, (_, place) => {
    const [topic, partition] = [`topic-${Math.trunc(place / 200)}`, place % 200];
    const [next, end, uncommitted] = [0, 0, 0];
    return { topic, partition, next, end, uncommitted, lag: partition === 7 ? 1_000 : 1 };
  });
  const topics = [...new Set(partitions.map(({ topic }) => topic))];
  const lags = () =>
    partitions.map(({ topic, partition }) => lagOf(topic, partition, { lateMs: 5, ageMs: 5 }));
  watchConsumption(metrics, { topics, partitions, lags, totals, uncommittedMs: 0 });
  const text = await metrics.expose();
  assert.equal(text.match(/^tailrace_consumer_lag_records\{topic="topic-\d+"\} 1199$/gm)?.length, 12);
  assert.equal(text.match(/^tailrace_consumer_lag_max_records\{topic="topic-\d+"\} 1000$/gm)?.length, 12);
  assert.equal(text.match(/^tailrace_consumer_lag_seconds\{topic="topic-\d+"\} 0.005$/gm)?.length, 12);
  assert.doesNotMatch(text, /partition=/);
  const page = [...metrics.pages.partitions.lines()].join('');
  for (const name of ['records', 'seconds']) {
    const series = new RegExp(
      `^tailrace_partition_lag_${name}\\{topic="topic-\\d+",partition="\\d+"\\} `,
      'gm',
    );
    assert.equal(page.match(series)?.length, 2_400);
  }
});

test('a lag that is not known is absent, and hides no partition that is certainly late', async () => {
  const metrics = createMetrics({ processMetrics: false });
  let lags: PartitionLag[] = [];
  watchConsumption(metrics, { topics: ['t'], partitions: [], lags: () => lags, totals, uncommittedMs: 0 });
  const scrape = async (...next: PartitionLag[]): Promise<Map<string, number>> => {
    lags = next;
    await nextTurn();
    return valuesIn(await metrics.expose());
  };
  const seconds = 'tailrace_consumer_lag_seconds{topic="t"}';
  const healthy = lagOf('t', 0, { ageMs: 3, lateMs: 3, retentionUsed: 0.1 });
  const late = lagOf('t', 1, { ageMs: 60_000, lateMs: 5_000, retentionUsed: 0.2, isPaused: true });
  const unknown = lagOf('t', 2);
  assert.equal((await scrape(healthy, late)).get(seconds), 5);
  assert.equal((await scrape(healthy, unknown)).get(seconds), undefined);
  const values = await scrape(healthy, late, unknown);
  assert.equal(values.get(seconds), 5);
  assert.equal(values.get('tailrace_consumer_retention_used_ratio{topic="t"}'), 0.2);
  assert.equal(values.get('tailrace_consumer_paused_partitions{topic="t"}'), 1);
  assert.equal(values.get('tailrace_consumer_assigned_partitions{topic="t"}'), 3);
  const none = await scrape();
  assert.equal(none.get(seconds), undefined);
  assert.equal(none.get('tailrace_consumer_assigned_partitions{topic="t"}'), 0);
  assert.equal(none.get('tailrace_consumer_expired_records_total{topic="t"}'), 0);
});

test('every kind of request and outcome begins at 0, and is counted', async () => {
  const metrics = createMetrics({ processMetrics: false });
  const { onRequest } = observeKafka(metrics);
  watchPublishers(metrics, { queued: () => ({ records: 2, bytes: 700 }) });
  const produced = 'tailrace_kafka_requests_total{api="Produce",outcome="timeout"}';
  assert.equal(valuesIn(await metrics.expose()).get(produced), 0);
  onRequest?.('Produce', 'timeout', 10.2);
  const values = valuesIn(await metrics.expose());
  assert.equal(values.get(produced), 1);
  assert.equal(values.get('tailrace_kafka_requests_total{api="Produce",outcome="ok"}'), 0);
  const duration = 'tailrace_kafka_request_duration_seconds';
  assert.equal(values.get(`${duration}_bucket{api="Produce",le="10"}`), 0);
  assert.equal(values.get(`${duration}_count{api="Produce"}`), 1);
  assert.equal(values.get('tailrace_publisher_queued_records'), 2);
  assert.equal(values.get('tailrace_publisher_queued_bytes'), 700);
});
