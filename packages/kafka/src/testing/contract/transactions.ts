import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ExclusiveRecord } from '../../publish/exclusive-publisher.ts';
import { connect, texts, type ContractCluster } from './cluster.ts';

const hourMs = 3_600_000;

function recordsOf(topic: string, ...values: readonly string[]): ExclusiveRecord[] {
  return values.map((value, nth) => ({ topic, partition: nth % 2, key: 'k', value }));
}

export function testTransactions(cluster: () => ContractCluster): void {
  describe('an exclusive publisher', () => {
    test('writes all records of a call or none', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic({ partitions: 2, config: { 'max.message.bytes': '1000' } });
      const publisher = await kafka.exclusivePublisher(topic);
      await publisher.publish(recordsOf(topic, 'a', 'b', 'c'));
      const records = recordsOf(topic, 'small', 'x'.repeat(3_000));
      await assert.rejects(publisher.publish(records), { code: 'record-too-large' });
      await publisher.close();
      const next = await kafka.exclusivePublisher(topic);
      const missing = { topic, partition: 2, key: 'k', value: 'v' };
      await assert.rejects(next.publish([...recordsOf(topic, 'd'), missing]), { code: 'partition-missing' });
      await next.close();
      const last = await kafka.exclusivePublisher(topic);
      await last.publish(recordsOf(topic, 'e'));
      assert.deepEqual(texts(await kafka.readAll(topic)).sort(), ['a', 'b', 'c', 'e']);
    });

    test('resolves when the records can be read', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic({ partitions: 1 });
      const publisher = await kafka.exclusivePublisher(topic);
      const behind: number[] = [];
      for (let round = 0; round < 200; round += 1) {
        await publisher.publish([{ topic, partition: 0, key: 'k', value: 'v' }]);
        const end = (await kafka.offsetsAt(topic, Date.now() + hourMs)).get(0) ?? 0;
        // Of each transaction there is also the marker of its commit.
        if (end < 2 * round + 1) behind.push(round);
      }
      assert.deepEqual(behind, []);
    });

    test('supersedes the one before it with the same id, and no other', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic({ partitions: 2 });
      const first = await kafka.exclusivePublisher(topic);
      const other = await kafka.exclusivePublisher(`${topic}.other`);
      await first.publish(recordsOf(topic, 'first'));
      const second = await kafka.exclusivePublisher(topic);
      await assert.rejects(first.publish(recordsOf(topic, 'too late')), { code: 'superseded' });
      await second.publish(recordsOf(topic, 'second'));
      await other.publish(recordsOf(topic, 'other'));
      assert.deepEqual(texts(await kafka.readAll(topic)).sort(), ['first', 'other', 'second']);
    });

    test('writes once where an answer is lost, and fails where the answer to the commit is lost', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic({ partitions: 2 });
      const publisher = await kafka.exclusivePublisher(topic);
      await publisher.publish(recordsOf(topic, 'a', 'b'));
      cluster().loseProduceAnswers = 1;
      await publisher.publish(recordsOf(topic, 'c', 'd'));
      cluster().loseCommitAnswers = 1;
      await assert.rejects(publisher.publish(recordsOf(topic, 'e')), { code: 'kafka-unavailable' });
      await publisher.close();
      await kafka.exclusivePublisher(topic);
      assert.deepEqual(texts(await kafka.readAll(topic)).sort(), ['a', 'b', 'c', 'd', 'e']);
    });
  });
}
