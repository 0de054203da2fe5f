/** One crash and one return of a broker, and what everything that uses it makes of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTailraceError } from '@tailrace/errors';
import { ownBroker } from '../support/kafka/broker.ts';
import { connectAdmin } from '../support/kafka/kafka-admin.ts';
import { eventually } from '@tailrace/testing';
import { joinGroup, openKafka } from '../support/kafka/kafka-client.ts';
import { readAll, watchTopic } from '../support/kafka/topics.ts';
import { steadily } from '../support/steadily.ts';

test('a broker is killed and restarted', async (t) => {
  await using broker = await ownBroker();
  await using kafka = openKafka(broker.brokers);
  await using leaving = openKafka(broker.brokers);
  const topic = await kafka.createTopic({ partitions: 3 });
  const followedTopic = await kafka.createTopic();
  const groupId = `${topic}.group`;

  const patient = kafka.publisher();
  const impatient = kafka.publisher({ giveUpAfterMs: 5_000 });
  await patient.publish({ topic: followedTopic, key: 'k', value: 'before' });

  await using followed = await watchTopic(kafka, followedTopic);
  await using member = await joinGroup(kafka, {
    groupId,
    topics: [topic],
    onRecord(record) {
      record.done();
    },
  });
  const closedMeanwhile = await joinGroup(leaving, { groupId: `${topic}.leaving`, topics: [topic] });
  assert.equal(member.healthy, true);
  await member.check();

  /** Everything it was given to publish, one record after another, also while the broker is away. */
  const published: Promise<void>[] = [];
  const values: string[] = [];
  const publish = (): void => {
    const value = String(values.length);
    values.push(value);
    published.push(patient.publish({ topic, key: value, value }));
  };
  using publishing = steadily(5, publish);
  await member.records.waitFor(50);
  await broker.kill('SIGKILL');

  await t.test('a publisher with a time to give up rejects, and one without waits', async () => {
    await assert.rejects(impatient.publish({ topic: followedTopic, key: 'k', value: 'given up' }), {
      code: 'kafka-unavailable',
    });
    const before = patient.bufferedBytes;
    await eventually(
      () => patient.bufferedBytes,
      (bytes) => bytes > before,
    );
  });

  await t.test('the consumer says that it is not healthy, and why', async () => {
    await eventually(
      () => member.healthy,
      (healthy) => !healthy,
    );
    await assert.rejects(member.check(), (error) => isTailraceError(error, 'kafka-unavailable'));
  });

  await t.test('finishing records meanwhile does no harm', () => {
    for (const record of closedMeanwhile.records.items) record.done();
  });

  await t.test('a refresh says that Kafka is away instead of pretending to be at the end', async () => {
    await assert.rejects(followed.refresh(), { code: 'kafka-unavailable' });
  });

  await t.test('a consumer can be closed meanwhile', async () => {
    await closedMeanwhile.close();
    await leaving.close();
  });

  await broker.restart();

  await t.test('the consumer reconnects by itself', async () => {
    await eventually(
      () => member.healthy,
      (healthy) => healthy,
    );
    const given = member.records.items.length;
    await member.records.waitFor(given + 50);
  });

  await t.test('publishers continue, and no acknowledged or pending record is lost', async () => {
    await impatient.publish({ topic: followedTopic, key: 'k', value: 'after' });
    publishing[Symbol.dispose]();
    await Promise.all(published);
    assert.equal(patient.bufferedBytes, 0);
    const stored = new Set((await readAll(kafka, topic)).map(({ value }) => value?.toString()));
    assert.deepEqual(
      values.filter((value) => !stored.has(value)),
      [],
    );
  });

  await t.test(
    'the consumer is given everything, and commits it; the one that was closed stays away',
    async () => {
      await member.records.waitFor((records) => {
        const given = new Set(records.map(({ value }) => value?.toString()));
        return values.every((value) => given.has(value));
      });
      await using admin = await connectAdmin(broker.brokers);
      const ends = new Map<number, number>();
      for (const { partition, offset } of member.records.items) {
        ends.set(partition, Math.max(ends.get(partition) ?? 0, offset + 1));
      }
      const expected = [...ends].sort(([a], [b]) => a - b).map(([, end]) => end);
      await eventually(
        () => admin.committed(groupId, topic),
        (committed) => String(committed) === String(expected),
      );
      // It could not say that it left, so the broker keeps it until its session has ended.
      await eventually(
        () => admin.memberIds(`${topic}.leaving`),
        (ids) => ids.length === 0,
      );
    },
  );

  await t.test('the follower shows what is new, and nothing again', async () => {
    await followed.refresh();
    const shown = followed.items.map(({ value }) => value?.toString());
    assert.deepEqual(
      shown.filter((value) => value !== 'given up'),
      ['before', 'after'],
    );
  });
});
