import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isTailraceError } from '@tailrace/errors';
import { eventually } from '@tailrace/testing';
import { connect, numbers, texts, type ContractCluster } from './cluster.ts';

/** `published`, or the code of the error. */
async function outcome(published: Promise<void>): Promise<string> {
  try {
    await published;
    return 'published';
  } catch (error) {
    assert.ok(isTailraceError(error), String(error));
    return error.code;
  }
}

export function testPublishing(cluster: () => ContractCluster): void {
  describe('a publisher', () => {
    test('writes the records of a key to one partition, in order', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic({ partitions: 4 });
      const publisher = kafka.publisher();
      const published = numbers(300).map((value, nth) =>
        publisher.publish({ topic, key: `clé-${nth % 7}`, value }),
      );
      assert.ok(publisher.bufferedBytes > 0);
      await Promise.all(published);
      assert.equal(publisher.bufferedBytes, 0);
      const { partitions, partitionOf } = await kafka.partitioner(topic);
      assert.equal(partitions, 4);
      const records = await kafka.readAll(topic);
      assert.equal(records.length, 300);
      for (let nth = 0; nth < 7; nth += 1) {
        const ofKey = records.filter(({ key }) => String(key) === `clé-${nth}`);
        assert.deepEqual([...new Set(ofKey.map(({ partition }) => partition))], [partitionOf(`clé-${nth}`)]);
        assert.deepEqual(
          texts(ofKey),
          numbers(300).filter((_, place) => place % 7 === nth),
        );
      }
    });

    test('writes records without a key that wait together to one partition, and later ones to the others in turn', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic({ partitions: 3 });
      const publisher = kafka.publisher();
      for (const values of [numbers(3), numbers(4), numbers(5)]) {
        await Promise.all(values.map((value) => publisher.publish({ topic, key: null, value })));
      }
      const ofPartition = Map.groupBy(await kafka.readAll(topic), ({ partition }) => partition);
      assert.deepEqual([...ofPartition.values()].map(({ length }) => length).sort(), [3, 4, 5]);
    });

    test('writes to the partition that the record names, and keeps null values and repeated headers', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic({ partitions: 3 });
      const headers = [
        ['a', '1'],
        ['a', Buffer.from('2')],
        ['a', null],
        ['b', null],
      ] as const;
      await kafka.publisher().publish({ topic, partition: 2, key: null, value: null, headers });
      const [record] = await kafka.readAll(topic);
      const { partition, offset, key, value } = record ?? {};
      assert.deepEqual(
        { partition, offset, key, value },
        { partition: 2, offset: 0, key: null, value: null },
      );
      assert.deepEqual(
        record?.headerList.map(([name, header]) => [name, header?.toString()]),
        [
          ['a', '1'],
          ['a', '2'],
          ['a', undefined],
          ['b', undefined],
        ],
      );
      assert.deepEqual({ ...record.headers }, { a: Buffer.from('2') });
      assert.ok(Math.abs(record.timestamp - Date.now()) < 60_000);
    });

    test('rejects a record that is too large for the topic, and publishes those around it', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic({ config: { 'max.message.bytes': '20000' } });
      const publisher = kafka.publisher();
      const values = numbers(20).map((value, nth) => (nth === 7 ? 'x'.repeat(30_000) : value));
      const outcomes = await Promise.all(
        values.map((value) => outcome(publisher.publish({ topic, key: 'k', value }))),
      );
      assert.deepEqual(
        outcomes,
        values.map((_, nth) => (nth === 7 ? 'record-too-large' : 'published')),
      );
      assert.deepEqual(
        texts(await kafka.readAll(topic)),
        values.filter((_, nth) => nth !== 7),
      );
    });

    test('with a time limit, rejects a record for a missing topic or partition immediately', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic({ partitions: 2 });
      const publisher = kafka.publisher({ giveUpAfterMs: 60_000 });
      const missing = cluster().newName();
      const record = { key: 'k', value: 'v' };
      assert.equal(await outcome(publisher.publish({ ...record, topic: missing })), 'topic-missing');
      assert.equal(await outcome(publisher.publish({ ...record, topic, partition: 2 })), 'partition-missing');
      assert.equal(await outcome(publisher.publish({ ...record, topic, partition: 1 })), 'published');
    });

    test('without a time limit, waits for a missing topic and logs a warning', async () => {
      await using kafka = connect(cluster());
      const topic = cluster().newName();
      const published = kafka.publisher().publish({ topic, key: 'k', value: 'v' });
      await eventually(() => kafka.lines.some(({ level }) => level === 'warn'));
      await kafka.ensureTopics([{ name: topic, partitions: 1, config: {} }]);
      await published;
      assert.deepEqual(texts(await kafka.readAll(topic)), ['v']);
    });

    test('resolves when Kafka acknowledges, and is overloaded beyond its buffer until then', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic();
      const publisher = kafka.publisher({ maxBufferedBytes: 100 });
      await publisher.publish({ topic, key: 'k', value: 'first' });
      cluster().pauseAcknowledgements();
      let isAcknowledged = false;
      const published = publisher.publish({ topic, key: 'k', value: 'x'.repeat(200) }).then(() => {
        isAcknowledged = true;
      });
      await eventually(async () => (await kafka.offsetsAt(topic, Date.now() + 60_000)).get(0) === 2);
      assert.equal(isAcknowledged, false);
      assert.ok(publisher.bufferedBytes > 200);
      assert.equal(await outcome(publisher.publish({ topic, key: 'k', value: 'v' })), 'overloaded');
      cluster().resumeAcknowledgements();
      await published;
      assert.equal(await outcome(publisher.publish({ topic, key: 'k', value: 'v' })), 'published');
    });

    test('writes a record once whose acknowledgement is lost', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic();
      const publisher = kafka.publisher();
      await publisher.publish({ topic, key: 'k', value: 'a' });
      cluster().loseProduceAnswers = 1;
      await publisher.publish({ topic, key: 'k', value: 'b' });
      assert.equal(cluster().loseProduceAnswers, 0);
      await publisher.publish({ topic, key: 'k', value: 'c' });
      assert.deepEqual(texts(await kafka.readAll(topic)), ['a', 'b', 'c']);
    });

    test('rejects a record that is not acknowledged in time, although it may be written', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic();
      const patient = kafka.publisher();
      const impatient = kafka.publisher({ giveUpAfterMs: 300 });
      await patient.publish({ topic, key: 'k', value: 'before' });
      cluster().pauseAcknowledgements();
      assert.equal(await outcome(impatient.publish({ topic, key: 'k', value: 'late' })), 'kafka-unavailable');
      cluster().resumeAcknowledgements();
      await patient.publish({ topic, key: 'k', value: 'after' });
      const values = texts(await kafka.readAll(topic));
      assert.deepEqual(
        values.filter((value) => value !== 'late'),
        ['before', 'after'],
      );
    });

    test('during an outage, rejects where it has a time limit and waits where it has none', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic();
      const patient = kafka.publisher();
      const impatient = kafka.publisher({ giveUpAfterMs: 300 });
      await patient.publish({ topic, key: 'k', value: 'before' });
      cluster().stop();
      try {
        const published = patient.publish({ topic, key: 'k', value: 'patient' });
        const given = impatient.publish({ topic, key: 'k', value: 'given up' });
        assert.equal(await outcome(given), 'kafka-unavailable');
        cluster().start();
        await published;
      } finally {
        cluster().start();
      }
      const values = texts(await kafka.readAll(topic));
      assert.deepEqual(
        values.filter((value) => value !== 'given up'),
        ['before', 'patient'],
      );
    });

    test('drains when it is closed, and accepts no more records', async () => {
      await using kafka = connect(cluster());
      const topic = await kafka.createTopic();
      const publisher = kafka.publisher({ lingerMs: 20 });
      const published = numbers(100).map((value) => publisher.publish({ topic, key: 'k', value }));
      const closed = publisher.close();
      assert.equal(await outcome(publisher.publish({ topic, key: 'k', value: 'late' })), 'shutting-down');
      await Promise.all([closed, ...published]);
      assert.equal((await kafka.readAll(topic)).length, 100);

      const waiting = kafka.publisher();
      const given = outcome(waiting.publish({ topic: cluster().newName(), key: 'k', value: 'v' }));
      await waiting.close({ timeoutMs: 50 });
      assert.equal(await given, 'shutting-down');
    });
  });
}
