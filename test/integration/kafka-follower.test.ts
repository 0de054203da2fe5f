/** The follower against a real broker: it reads to the end, with and without records at the last offsets. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sharedBroker } from '../support/kafka/broker.ts';
import { connectAdmin } from '../support/kafka/kafka-admin.ts';
import { openKafka, type TestKafka } from '../support/kafka/kafka-client.ts';
import { startKafkaProxy } from '../support/kafka/kafka-proxy.ts';
import { readAll, uniquePrefix, watchTopic } from '../support/kafka/topics.ts';

let brokers: readonly string[];
let kafka: TestKafka;
before(async () => {
  ({ brokers } = await sharedBroker());
  kafka = openKafka(brokers);
});
after(() => kafka.close());

test('after a refresh a follower has read all acknowledged records, each once', async () => {
  const topic = await kafka.createTopic({ partitions: 3 });
  const publisher = kafka.publisher();
  await using followed = await watchTopic(kafka, topic);
  const published: string[] = [];
  for (let round = 0; round < 10; round++) {
    const values = Array.from({ length: 7 }, (_, nth) => `${round}.${nth}`);
    await Promise.all(values.map((value) => publisher.publish({ topic, key: value, value })));
    published.push(...values);
    await Promise.all([followed.refresh(), followed.refresh()]);
    assert.deepEqual(followed.items.map(({ value }) => value?.toString()).sort(), published.sort());
  }
});

test('a follower resolves when it has read to the end, from the first record that has not expired', async () => {
  const topic = await kafka.createTopic();
  const publisher = kafka.publisher();
  const values = Array.from({ length: 3_000 }, (_, nth) => `${nth} ${'x'.repeat(1_000)}`);
  await Promise.all(values.map((value) => publisher.publish({ topic, key: 'k', value })));
  await using admin = await connectAdmin(brokers);
  await admin.expire(topic, 0, 1_000);
  const read = await readAll(kafka, topic);
  assert.deepEqual(
    read.map(({ value }) => value?.toString()),
    values.slice(1_000),
  );
});

test('an empty topic, and one that was emptied, are read to their end', async () => {
  const topic = await kafka.createTopic();
  assert.deepEqual(await readAll(kafka, topic), []);
  await kafka.publisher().publish({ topic, key: 'k', value: 'v' });
  await using admin = await connectAdmin(brokers);
  await admin.expire(topic, 0, 1);
  assert.deepEqual(await readAll(kafka, topic), []);
});

test('offsets without a record at the end do not block a refresh', async () => {
  const topic = await kafka.createTopic();
  const publisher = kafka.publisher();
  await publisher.publish({ topic, key: 'k', value: 'kept' });
  await using admin = await connectAdmin(brokers);
  await admin.writeAborted(topic, ['never seen']);
  await using followed = await watchTopic(kafka, topic);
  await followed.refresh();
  await publisher.publish({ topic, key: 'k', value: null });
  await followed.refresh();
  assert.deepEqual(
    followed.items.map(({ offset, value }) => [offset, value?.toString()]),
    [
      [0, 'kept'],
      [3, undefined],
    ],
  );
});

test('a follower turns to the next broker where one accepts connections and closes them', async () => {
  const topic = await kafka.createTopic();
  await kafka.publisher().publish({ topic, key: 'k', value: 'v' });
  await using closing = await startKafkaProxy(brokers[0] ?? '');
  closing.stop();
  await using besideIt = openKafka([...closing.brokers, ...brokers]);
  assert.equal((await readAll(besideIt, topic)).length, 1);
});

test('a follower waits for a missing topic, and logs a warning', async () => {
  await using kafka = openKafka(brokers);
  const topic = `${uniquePrefix()}late`;
  const following = watchTopic(kafka, topic);
  const { fields } = await kafka.log.find(({ level }) => level === 'warn');
  assert.equal((fields as { err: { code: string } }).err.code, 'topic-missing');
  await kafka.ensureTopics([{ name: topic, partitions: 1, config: {} }]);
  await using followed = await following;
  await kafka.publisher().publish({ topic, key: 'k', value: 'v' });
  await followed.waitFor(1);
});
