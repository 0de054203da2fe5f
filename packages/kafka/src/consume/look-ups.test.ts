import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulateTime } from '@tailrace/testing';
import { MemoryCluster } from '../testing/cluster.ts';

test('the lag of a paused partition is known after the clock was set forward and back', async () => {
  using time = simulateTime();
  const cluster = new MemoryCluster();
  const kafka = cluster.connect();
  cluster.createTopic('events');
  const joining = kafka.consume({ groupId: 'group', topics: ['events'], onRecord: () => undefined });
  const consumption = await time.settled(joining);
  consumption.pause();
  time.setClock(25 * 3_600_000);
  await time.pass(10_000);
  time.setClock(0);
  await time.settled(kafka.publisher().publish({ topic: 'events', key: 'k', value: 'v' }));
  await time.pass(10_000);
  const [lag] = consumption.lags();
  assert.ok((lag?.ageMs ?? 0) >= 5_000, String(lag?.ageMs));
  await time.settled(kafka.close());
});
