/** The exclusive publisher against a real broker: one writer at a time, all or none, no duplicates. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ExclusiveRecord } from '@tailrace/kafka';
import { sharedBroker } from '../support/kafka/broker.ts';
import { eventually } from '@tailrace/testing';
import { openKafka, type TestKafka } from '../support/kafka/kafka-client.ts';
import { connectAdmin } from '../support/kafka/kafka-admin.ts';
import { startKafkaProxy } from '../support/kafka/kafka-proxy.ts';
import { readAll } from '../support/kafka/topics.ts';

let brokers: readonly string[];
let kafka: TestKafka;
before(async () => {
  ({ brokers } = await sharedBroker());
  kafka = openKafka(brokers);
});
after(() => kafka.close());

function recordsOf(topic: string, ...values: readonly string[]): ExclusiveRecord[] {
  return values.map((value, nth) => ({ topic, partition: nth % 2, key: 'k', value }));
}

async function valuesIn(topic: string): Promise<(string | undefined)[]> {
  return (await readAll(kafka, topic)).map(({ value }) => value?.toString()).sort();
}

test('published records can be read from the named partitions', async () => {
  const topic = await kafka.createTopic({ partitions: 2 });
  const publisher = await kafka.exclusivePublisher(topic);
  await publisher.publish(recordsOf(topic, 'a', 'b'));
  await publisher.publish(recordsOf(topic, 'c', 'd', 'e'));
  await publisher.close();
  const read = await readAll(kafka, topic);
  const places = read.map(({ partition, value }) => `${partition} ${value?.toString() ?? ''}`);
  assert.deepEqual(places.sort(), ['0 a', '0 c', '0 e', '1 b', '1 d']);
});

test('the partition of a key is the one that other publishers choose', async () => {
  const topic = await kafka.createTopic({ partitions: 5 });
  const keys = Array.from({ length: 40 }, (_, nth) => `clé ${nth}`);
  const publisher = kafka.publisher();
  await Promise.all(keys.map((key) => publisher.publish({ topic, key, value: key })));
  const { partitions, partitionOf } = await kafka.partitioner(topic);
  assert.equal(partitions, 5);
  for (const { partition, key } of await readAll(kafka, topic)) {
    assert.equal(partitionOf(key?.toString() ?? ''), partition);
  }
});

test('a record for a partition that the topic does not have is a failure', async () => {
  const topic = await kafka.createTopic({ partitions: 2 });
  const publisher = await kafka.exclusivePublisher(`${topic}.writer`);
  const record = { topic, partition: 2, key: 'k', value: 'v' };
  await assert.rejects(publisher.publish([record]), { code: 'partition-missing' });
  await publisher.close();
});

test('opening a publisher fences the earlier one with the same id, and no other', async () => {
  const topic = await kafka.createTopic({ partitions: 2 });
  const first = await kafka.exclusivePublisher(topic);
  const other = await kafka.exclusivePublisher(`${topic}.other`);
  await first.publish(recordsOf(topic, 'by the first'));
  const second = await kafka.exclusivePublisher(topic);
  await assert.rejects(first.publish(recordsOf(topic, 'too late')), { code: 'superseded' });
  await second.publish(recordsOf(topic, 'by the second'));
  await other.publish(recordsOf(topic, 'by the other'));
  assert.deepEqual(await valuesIn(topic), ['by the first', 'by the other', 'by the second']);
});

test('a publisher that is fenced while it writes is rejected as superseded, at any moment', async () => {
  const topic = await kafka.createTopic({ partitions: 2 });
  for (let round = 0; round < 12; round += 1) {
    const first = await kafka.exclusivePublisher(topic);
    let published = 0;
    const shutOut = (async () => {
      for (;;) {
        await first.publish(recordsOf(topic, 'a', 'b'));
        published += 1;
      }
    })();
    shutOut.catch(() => undefined);
    await eventually(
      () => published,
      (count) => count > round % 3,
    );
    const second = await kafka.exclusivePublisher(topic);
    await assert.rejects(shutOut, { code: 'superseded' });
    await Promise.all([first.close(), second.close()]);
  }
});

test('all records of a call are written or none', async () => {
  const topic = await kafka.createTopic({ partitions: 2, config: { 'max.message.bytes': '1000' } });
  const publisher = await kafka.exclusivePublisher(topic);
  const tooLarge = Array.from({ length: 2_000 }, () => Math.random().toString(36)[3]).join('');
  await assert.rejects(publisher.publish(recordsOf(topic, 'small', tooLarge)), { code: 'record-too-large' });
  await publisher.close();
  const next = await kafka.exclusivePublisher(topic);
  await next.publish(recordsOf(topic, 'next'));
  assert.deepEqual(await valuesIn(topic), ['next']);
});

test('a lost answer to a produce request causes no duplicates', async () => {
  const [broker = ''] = brokers;
  await using proxy = await startKafkaProxy(broker);
  await using client = openKafka(proxy.brokers);
  const topic = await kafka.createTopic({ partitions: 2 });
  const publisher = await client.exclusivePublisher(topic);
  await publisher.publish(recordsOf(topic, 'a', 'b'));
  proxy.loseProduceAnswers = 1;
  await publisher.publish(recordsOf(topic, 'c', 'd'));
  assert.equal(proxy.lost.items.length, 1);
  assert.deepEqual(await valuesIn(topic), ['a', 'b', 'c', 'd']);
});

test('a lost answer to the commit is a failure, and the next publisher sees the result', async () => {
  const [broker = ''] = brokers;
  await using proxy = await startKafkaProxy(broker);
  await using client = openKafka(proxy.brokers);
  const topic = await kafka.createTopic({ partitions: 2 });
  const publisher = await client.exclusivePublisher(topic);
  proxy.loseCommitAnswers = 1;
  await assert.rejects(publisher.publish(recordsOf(topic, 'a', 'b')), { code: 'kafka-unavailable' });
  await publisher.close();
  await client.exclusivePublisher(topic);
  assert.deepEqual(await valuesIn(topic), ['a', 'b']);
});

test('an open transaction ends what can be read, and not where a partition ends', async () => {
  await using admin = await connectAdmin(brokers);
  const topic = await kafka.createTopic();
  const abort = await admin.openTransaction(topic, ['open']);
  await kafka.publisher().publish({ topic, key: 'k', value: 'acknowledged behind it' });
  assert.equal((await kafka.offsets(topic)).get(0)?.high, 0);
  assert.deepEqual(await kafka.ends(topic), new Map([[0, 2]]));
  await abort();
});
