import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eventually } from '@tailrace/testing';
import { connect, join, numbers, type ContractCluster } from './cluster.ts';

export function testTopics(cluster: () => ContractCluster): void {
  describe('administration', () => {
    test('creates missing topics, reports differences, and adds partitions', async () => {
      await using kafka = connect(cluster());
      const [name, absent] = [cluster().newName(), cluster().newName()];
      const spec = { name, partitions: 2, config: { 'retention.ms': '3600000' } };
      const outcomes = async (): Promise<string[]> =>
        (await kafka.inspectTopics([spec])).map(({ outcome }) => outcome);
      assert.deepEqual(await outcomes(), ['missing']);
      assert.deepEqual(await kafka.ensureTopics([spec]), [{ name, outcome: 'created', differences: [] }]);
      assert.deepEqual(await kafka.ensureTopics([spec]), [{ name, outcome: 'exists', differences: [] }]);
      await kafka.addPartitions(name, 4);
      await kafka.addPartitions(name, 3);
      assert.deepEqual(await outcomes(), ['differs']);
      assert.deepEqual(
        await kafka.describeTopics([name, absent]),
        new Map([[name, { partitions: 4, replicationFactor: 1 }]]),
      );
      assert.deepEqual(
        await kafka.inspectDurability([name]),
        new Map([[name, { replicationFactor: 1, minInSync: 1 }]]),
      );
      assert.ok((await kafka.listTopics()).includes(name));
      const replicated = { ...spec, name: absent, replicationFactor: 3 };
      await assert.rejects(kafka.ensureTopics([replicated]), { code: 'too-few-brokers' });
    });

    test('reports the members and the lag of a group', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic();
      await kafka.write(topic, numbers(5));
      const groupId = `${topic}.group`;
      await using member = await join(kafka, { groupId, topics: [topic] });
      await eventually(() => member.records.length === 5);
      for (const record of member.records.slice(0, 3)) record.done();
      await eventually(async () => String(await cluster().committed(groupId, topic)) === '3');
      const report = await kafka.inspectGroup(groupId, [topic]);
      const heads = new Map([[topic, new Map([[0, 3]])]]);
      assert.deepEqual(report, { members: 1, lag: new Map([[topic, 2]]), heads });
    });

    test('reports what a group has finished, also above its committed offset', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic();
      const groupId = `${topic}.group`;
      const finished = async () => (await kafka.finished(groupId, [topic])).get(topic)?.get(0);
      assert.deepEqual(await finished(), []);
      await kafka.write(topic, numbers(5));
      await using member = await join(kafka, { groupId, topics: [topic] });
      await eventually(() => member.records.length === 5);
      for (const nth of [0, 1, 3]) member.records[nth]?.done();
      await eventually(finished, (ranges) => ranges?.length === 2);
      assert.deepEqual(await finished(), [
        { from: 0, to: 2 },
        { from: 3, to: 4 },
      ]);
    });

    test('reports a setting and the health of a topic', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic();
      const retention = await kafka.topicSetting([topic], 'retention.ms');
      assert.deepEqual([...retention], [[topic, '604800000']]);
      const health = { partitions: 1, underReplicated: 0, leaderless: 0 };
      assert.deepEqual(await kafka.inspectHealth([topic]), new Map([[topic, health]]));
    });

    test('reports the brokers and the id of the cluster, and that it cannot be reached', async () => {
      await using kafka = connect(cluster());
      await kafka.ping();
      assert.equal((await kafka.inspectCluster()).brokers.length, 1);
      assert.equal(await kafka.clusterId(), await kafka.clusterId());
      cluster().stop();
      try {
        await assert.rejects(kafka.ping({ timeoutMs: 10_000 }), { code: 'kafka-unavailable' });
      } finally {
        cluster().start();
      }
      await kafka.ping();
    });
  });
}
