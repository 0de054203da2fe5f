/** The publisher against a real broker: order, sizes, rejections, and lost answers. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { isTailraceError } from '@tailrace/errors';
import type { OutgoingRecord } from '@tailrace/kafka';
import { sharedBroker } from '../support/kafka/broker.ts';
import { connectAdmin } from '../support/kafka/kafka-admin.ts';
import { openKafka, type TestKafka } from '../support/kafka/kafka-client.ts';
import { startKafkaProxy } from '../support/kafka/kafka-proxy.ts';
import { readAll, uniquePrefix } from '../support/kafka/topics.ts';

let brokers: readonly string[];
let kafka: TestKafka;
before(async () => {
  ({ brokers } = await sharedBroker());
  kafka = openKafka(brokers);
});
after(() => kafka.close());

async function valuesOf(topic: string): Promise<(string | undefined)[]> {
  return (await readAll(kafka, topic)).map(({ value }) => value?.toString());
}

/** The code of what each promise rejected with; `published` where it did not. */
async function outcomes(promises: readonly Promise<void>[]): Promise<string[]> {
  const settled = await Promise.allSettled(promises);
  return settled.map((result) => {
    if (result.status === 'fulfilled') return 'published';
    assert.ok(isTailraceError(result.reason), String(result.reason));
    return result.reason.code;
  });
}

test('records of one key keep the order in which they were published, in requests small and large', async () => {
  const topic = await kafka.createTopic({ partitions: 4 });
  const publisher = kafka.publisher();
  const records: OutgoingRecord[] = Array.from({ length: 4_000 }, (_, nth) => ({
    topic,
    key: `key-${nth % 37}`,
    value: `${nth} ${'x'.repeat(nth < 100 ? 10 : 1_000)}`,
    headers: { nth: String(nth), bytes: Buffer.from([0, 255, nth % 256]) },
  }));
  const published: Promise<void>[] = [];
  for (const [nth, record] of records.entries()) {
    published.push(publisher.publish(record));
    // The first hundred go in small requests, what follows has to go in few and large ones.
    if (nth < 100) await published.at(-1);
  }
  await Promise.all(published);
  assert.equal(publisher.bufferedBytes, 0);

  const read = await readAll(kafka, topic);
  assert.equal(read.length, records.length);
  for (const key of new Set(records.map((record) => record.key))) {
    const wanted = records.filter((record) => record.key === key);
    const found = read.filter((record) => record.key?.toString() === key);
    assert.deepEqual(
      found.map(({ value }) => value?.toString()),
      wanted.map(({ value }) => value),
    );
    assert.equal(new Set(found.map(({ partition }) => partition)).size, 1);
    for (const { headers } of found) {
      const nth = Number(headers['nth']?.toString());
      assert.deepEqual(headers['bytes'], Buffer.from([0, 255, nth % 256]));
    }
  }
});

test('a record goes to the partition it names, and null keys and values stay null', async () => {
  const topic = await kafka.createTopic({ partitions: 3 });
  const publisher = kafka.publisher();
  await publisher.publish({ topic, partition: 2, key: 'k', value: null });
  await publisher.publish({ topic, partition: 1, key: null, value: 'v' });
  const read = (await readAll(kafka, topic)).sort((a, b) => a.partition - b.partition);
  assert.deepEqual(
    read.map(({ partition, key, value }) => [partition, key?.toString(), value?.toString()]),
    [
      [1, undefined, 'v'],
      [2, 'k', undefined],
    ],
  );
});

test('a record that is too large is rejected alone; its neighbours are published, in order', async () => {
  const [topic, other] = [
    await kafka.createTopic({ config: { 'max.message.bytes': '20000' } }),
    await kafka.createTopic(),
  ];
  const publisher = kafka.publisher();
  const values = Array.from({ length: 20 }, (_, nth) => (nth === 7 ? randomBytes(30_000) : `small ${nth}`));
  const published = await outcomes([
    ...values.map((value) => publisher.publish({ topic, key: 'k', value })),
    publisher.publish({ topic: other, key: 'k', value: 'elsewhere' }),
  ]);
  assert.deepEqual(
    published,
    [...values, ''].map((_, nth) => (nth === 7 ? 'record-too-large' : 'published')),
  );
  const found = await valuesOf(topic);
  assert.deepEqual(
    found,
    values.filter((value) => typeof value === 'string'),
  );
  // Kafka took it from the request that it refused otherwise, so it was sent twice.
  assert.deepEqual([...new Set(await valuesOf(other))], ['elsewhere']);
});

test('with a time limit, the rejection names a missing topic, and other topics are not affected', async () => {
  const topic = await kafka.createTopic();
  const missing = `${uniquePrefix()}missing`;
  const publisher = kafka.publisher({ giveUpAfterMs: 60_000 });
  const [there, notThere] = await Promise.allSettled([
    publisher.publish({ topic, key: 'k', value: 'v' }),
    publisher.publish({ topic: missing, key: 'k', value: 'v' }),
  ]);
  assert.equal(there.status, 'fulfilled');
  assert.equal(notThere.status, 'rejected');
  assert.ok(isTailraceError(notThere.reason, 'topic-missing'), String(notThere.reason));
  assert.ok(notThere.reason.message.includes(missing));
  await publisher.publish({ topic, key: 'k', value: 'w' });
});

test('without a time limit, a record waits for a missing topic, and a warning is logged', async () => {
  await using kafka = openKafka(brokers);
  const missing = `${uniquePrefix()}late`;
  const published = kafka.publisher().publish({ topic: missing, key: 'k', value: 'v' });
  await kafka.log.find(
    ({ level, message }) => level === 'warn' && message.includes('topic or partition unavailable'),
  );
  await kafka.ensureTopics([{ name: missing, partitions: 1, config: {} }]);
  await published;
  assert.deepEqual(await valuesOf(missing), ['v']);
});

test('a record for a missing partition is never acknowledged', async () => {
  await using kafka = openKafka(brokers);
  const topic = await kafka.createTopic({ partitions: 2 });
  const impatient = kafka.publisher({ giveUpAfterMs: 60_000 });
  const record = { topic, partition: 2, key: 'k', value: 'v' };
  await assert.rejects(impatient.publish(record), { code: 'partition-missing' });

  const patient = kafka.publisher();
  const published = patient.publish(record);
  await kafka.log.find(
    ({ level, message }) => level === 'warn' && message.includes('topic or partition unavailable'),
  );
  await patient.publish({ ...record, partition: 1 });
  await using admin = await connectAdmin(brokers);
  await admin.addPartitions(topic, 3);
  await published;
  const read = await readAll(kafka, topic);
  assert.deepEqual(read.map(({ partition }) => partition).sort(), [1, 2]);
});

test('close() drains pending records, and accepts no more', async () => {
  const topic = await kafka.createTopic();
  const publisher = kafka.publisher({ lingerMs: 50 });
  const published = Array.from({ length: 500 }, (_, nth) =>
    publisher.publish({ topic, key: 'k', value: String(nth) }),
  );
  const closed = publisher.close();
  await assert.rejects(publisher.publish({ topic, key: 'k', value: 'late' }), { code: 'shutting-down' });
  await closed;
  assert.ok((await outcomes(published)).every((outcome) => outcome === 'published'));
  assert.equal((await readAll(kafka, topic)).length, 500);
});

test('close() rejects the records that it cannot drain in time', async () => {
  const publisher = kafka.publisher();
  const published = publisher.publish({ topic: `${uniquePrefix()}missing`, key: 'k', value: 'v' });
  const rejected = assert.rejects(published, { code: 'shutting-down' });
  await publisher.close({ timeoutMs: 100 });
  await rejected;
  assert.equal(publisher.bufferedBytes, 0);
});

test('a publisher beyond its buffer limit is overloaded, and accepts records again once some are acknowledged', async () => {
  const topic = await kafka.createTopic();
  const publisher = kafka.publisher({ maxBufferedBytes: 10_000 });
  const record = { topic, key: 'k', value: 'x'.repeat(1_000) };
  const results = await outcomes(Array.from({ length: 20 }, () => publisher.publish(record)));
  const taken = results.filter((outcome) => outcome === 'published').length;
  assert.ok(taken > 0 && taken < 20);
  assert.ok(results.slice(taken).every((outcome) => outcome === 'overloaded'));
  await publisher.publish(record);
  assert.equal((await readAll(kafka, topic)).length, taken + 1);
});

test('a rejected record that was written does not cause the broker to drop the next', async () => {
  const [broker = ''] = brokers;
  await using proxy = await startKafkaProxy(broker);
  await using client = openKafka(proxy.brokers);
  const topic = await kafka.createTopic();
  const publisher = client.publisher({ giveUpAfterMs: 5_000 });
  await publisher.publish({ topic, key: 'k', value: 'before' });

  proxy.loseProduceAnswers = Infinity;
  await assert.rejects(publisher.publish({ topic, key: 'k', value: 'given up' }), {
    code: 'kafka-unavailable',
  });
  await client.log.find(({ message }) => message.includes('produce request failed'));
  proxy.loseProduceAnswers = 0;
  await publisher.publish({ topic, key: 'k', value: 'after' });

  assert.deepEqual([...new Set(await valuesOf(topic))], ['before', 'given up', 'after']);
});

test('a lost answer for a record without a key does not cause the broker to drop the next', async () => {
  const [broker = ''] = brokers;
  await using proxy = await startKafkaProxy(broker);
  await using client = openKafka(proxy.brokers);
  const topic = await kafka.createTopic({ partitions: 3 });
  const publisher = client.publisher();
  const values = Array.from({ length: 10 }, (_, nth) => String(nth));
  for (const value of values) {
    if (value === '3') proxy.loseProduceAnswers = 1;
    await publisher.publish({ topic, key: null, value });
  }
  assert.equal(proxy.lost.items.length, 1);
  assert.deepEqual((await valuesOf(topic)).sort(), values);
});
