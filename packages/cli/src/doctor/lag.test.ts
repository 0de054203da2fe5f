import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { pauseTierMs, topicNames } from '@tailrace/topology';
import { groupTopics, lagFindings, lagOf, type TopicLag } from './lag.ts';

const names = topicNames('tailrace.');
const tier = names.retryTier(60_000);

test('lag in seconds is the age of the oldest unfinished record; in a retry topic, how late it is', async () => {
  const cluster = new MemoryCluster();
  const topics = groupTopics(names, [60_000]);
  for (const topic of [...topics.router, ...topics.delivery]) cluster.createTopic(topic, { partitions: 3 });
  await using kafka = cluster.connect();
  const publisher = kafka.publisher();
  for (const partition of [0, 1, 2]) {
    await publisher.publish({ topic: names.deliveries, partition, key: 'k', value: 'v' });
    const minutes = partition + 1;
    const headers = { 'due-at': new Date(Date.now() + minutes * 60_000).toISOString() };
    await publisher.publish({ topic: tier, partition, key: 'k', value: 'v', headers });
  }
  const report = await kafka.inspectGroup('tailrace.delivery', topics.delivery);
  assert.deepEqual(
    [...(report.heads.get(names.deliveries) ?? [])],
    [
      [0, 0],
      [1, 0],
      [2, 0],
    ],
  );
  const bySeconds = (lags: readonly TopicLag[]) =>
    Object.fromEntries(
      lags.map(({ topic, records, seconds }) => [topic, [records, Math.round((seconds ?? 0) / 10)]]),
    );
  const in90Seconds = Date.now() + 90_000;
  assert.deepEqual(bySeconds(await lagOf(kafka, names, { group: 'delivery', ...report }, in90Seconds)), {
    [names.deliveries]: [3, 9],
    [names.deliveriesReplay]: [0, 0],
    [names.retryTier(24 * 3_600_000)]: [0, 0],
    // The first of them was due after a minute.
    [tier]: [3, 3],
    [names.retryTier(pauseTierMs)]: [0, 0],
  });
});

function lag(topic: string, seconds: number | null): TopicLag {
  return { group: 'router', topic, records: 5, seconds };
}

function levelsOf(...lags: TopicLag[]): string[] {
  const retentionMs = new Map([['events', 7 * 86_400_000]]);
  return lagFindings(lags, retentionMs).map(({ level, says }) => `${level}: ${says}`);
}

test('a late topic is a warning, half of the retention a failure, and an age that cannot be read unknown', () => {
  assert.deepEqual(levelsOf(lag('events', 59), lag('deliveries', 0)), [
    'ok: the oldest unfinished record is 59 s late',
  ]);
  assert.deepEqual(levelsOf(lag('events', 60), lag('other', null)), [
    'warn: the oldest unfinished record is late: events (60 s, 5 records).',
    'unknown: the age of the backlog could not be read: other.',
  ]);
  assert.match(levelsOf(lag('events', 3.5 * 86_400))[0] ?? '', /^fail: half of the retention is used/);
});
