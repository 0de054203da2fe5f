/** The steps of a tail, on an in-memory Kafka cluster and simulated time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulateTime } from '@tailrace/testing';
import { MemoryCluster } from '../testing/index.ts';

test('a record is delivered at once, what arrives within 200 ms of it together, and a refresh waits for none of it', async () => {
  using time = simulateTime();
  const cluster = new MemoryCluster();
  cluster.createTopic('events', { partitions: 2 });
  const kafka = cluster.connect();
  const publisher = kafka.publisher();
  const publish = (...values: readonly string[]): Promise<unknown> =>
    time.settled(
      Promise.all(
        values.map((value, partition) => publisher.publish({ topic: 'events', partition, key: null, value })),
      ),
    );
  await publish('before');
  const steps: string[][] = [];
  const tail = await time.settled(
    kafka.tail({
      topics: ['events'],
      startOf: () => undefined,
      onRecords: (parts) => {
        steps.push(parts.flatMap(({ records }) => records.map(({ value }) => String(value))));
        return Promise.resolve();
      },
    }),
  );
  await time.settled(tail.refresh());
  await time.pass(200);
  await publish('a');
  await time.pass(0);
  assert.deepEqual(steps, [['before'], ['a']]);
  await publish('b', 'c');
  await publish('d');
  await time.pass(199);
  assert.equal(steps.length, 2);
  await time.pass(1);
  assert.deepEqual(steps.slice(2), [['b', 'd', 'c']]);
  await publish('e');
  const refreshed = tail.refresh();
  await time.pass(0);
  await refreshed;
  assert.deepEqual(steps.slice(3), [['e']]);
  await time.settled(tail.close());
  await time.settled(kafka.close());
});
