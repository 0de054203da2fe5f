/** The cluster used by fault tests: its brokers replicate, hang, are killed and are started again. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { ownCluster } from '../support/kafka/cluster.ts';
import { connectAdmin } from '../support/kafka/kafka-admin.ts';
import { eventually } from '@tailrace/testing';
import { openKafka } from '../support/kafka/kafka-client.ts';
import { readAll, uniquePrefix } from '../support/kafka/topics.ts';

test('a hanging broker leaves the in-sync replicas, a killed one loses no record, and both rejoin', async () => {
  await using cluster = await ownCluster();
  const [first, second] = cluster.nodes;
  assert.ok(first && second && cluster.nodes.length === 3);
  await using kafka = openKafka(cluster.brokers);
  const topic = `${uniquePrefix()}topic`;
  const config = { 'min.insync.replicas': '2' };
  await kafka.ensureTopics([{ name: topic, partitions: 3, replicationFactor: 3, config }]);
  const { brokers } = await kafka.inspectCluster();
  assert.deepEqual(brokers.map(({ id }) => id).sort(), [1, 2, 3]);

  // Connects to a broker that keeps running, because the client waits long for a hanging one.
  await using admin = await connectAdmin([first.address]);
  const inSync = (holds: (ids: readonly number[]) => boolean): Promise<unknown> =>
    eventually(
      () => admin.inSync(topic),
      (partitions) => partitions.length === 3 && partitions.every(holds),
    );
  await cluster.node(3).freeze();
  await inSync((ids) => !ids.includes(3));
  cluster.node(3).thaw();
  await inSync((ids) => ids.length === 3);

  const publisher = kafka.publisher();
  await publisher.publish({ topic, partition: 0, key: null, value: 'kept' });
  const { pid } = second;
  await second.kill();
  assert.equal(second.pid, undefined);
  assert.equal(existsSync(`/proc/${pid ?? 0}`), false);
  await inSync((ids) => !ids.includes(2));
  assert.deepEqual(
    (await readAll(kafka, topic)).map(({ value }) => String(value)),
    ['kept'],
  );
  await second.restart();
  await inSync((ids) => ids.length === 3);
});
