/** Adding partitions to topics in use: no record is missed, lost or repeated. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { isTailraceError } from '@tailrace/errors';
import { sharedBroker } from '../support/kafka/broker.ts';
import { eventually } from '@tailrace/testing';
import { joinGroup, openKafka } from '../support/kafka/kafka-client.ts';
import { readAll, uniquePrefix } from '../support/kafka/topics.ts';

const { brokers } = await sharedBroker();
const opened = new AsyncDisposableStack();
after(() => opened.disposeAsync());
const kafka = opened.use(openKafka(brokers));

const valuesIn = (records: readonly { readonly value: Buffer | null }[]): string[] =>
  records.map(({ value }) => String(value)).sort();

test('a new topic gets the same number of partitions as the one that it must equal', async () => {
  const prefix = uniquePrefix();
  const spec = (name: string, partitions: number) => ({
    name: `${prefix}${name}`,
    partitions,
    config: {},
    ...(name !== 'model' && { samePartitionsAs: `${prefix}model`, group: 'models' }),
  });
  await kafka.ensureTopics([spec('model', 4)]);
  const [first] = await kafka.ensureTopics([spec('like-it', 2)]);
  assert.deepEqual(first, { name: `${prefix}like-it`, outcome: 'created', differences: [] });

  await kafka.addPartitions(`${prefix}model`, 5);
  const reports = await kafka.ensureTopics([spec('model', 5), spec('like-it', 5), spec('new', 2)]);
  assert.deepEqual(
    reports.map(({ outcome }) => outcome),
    ['exists', 'differs', 'created'],
  );
  assert.deepEqual(reports[1]?.differences, [
    `it has 4 partitions and ${prefix}model has 5: make them equal with ` +
      'npx tailrace topics apply --partitions 5 --only models',
  ]);
  const topics = await kafka.describeTopics([`${prefix}new`, `${prefix}like-it`, `${prefix}absent`]);
  assert.deepEqual(
    topics,
    new Map([
      [`${prefix}new`, { partitions: 5, replicationFactor: 1 }],
      [`${prefix}like-it`, { partitions: 4, replicationFactor: 1 }],
    ]),
  );
});

test('partitions are added once, also by several processes, and never removed', async () => {
  await using other = openKafka(brokers);
  const topic = await kafka.createTopic({ partitions: 2 });
  await Promise.all([kafka, other].map((kafka) => kafka.addPartitions(topic, 6)));
  await kafka.addPartitions(topic, 3);
  assert.equal((await other.describeTopics([topic])).get(topic)?.partitions, 6);
});

test('a record for a missing partition is acknowledged only after the partition is added', async () => {
  const topic = await kafka.createTopic({ partitions: 2 });
  const publisher = kafka.publisher();
  await publisher.publish({ topic, partition: 1, key: null, value: 'one' });
  let acknowledged = false;
  const published = publisher.publish({ topic, partition: 3, key: null, value: 'three' }).then(() => {
    acknowledged = true;
  });
  await kafka.log.find(({ level }) => level === 'warn');
  assert.equal(acknowledged, false);
  await kafka.addPartitions(topic, 4);
  await published;
  assert.deepEqual(valuesIn(await readAll(kafka, topic)), ['one', 'three']);
});

test('a transaction with a record for a missing partition fails, and writes nothing', async () => {
  const topic = await kafka.createTopic({ partitions: 2 });
  const publisher = await kafka.exclusivePublisher(`${topic}.writer`);
  const records = [1, 2].map((partition) => ({
    topic,
    partition,
    key: null,
    headers: {},
    value: Buffer.from(String(partition)),
  }));
  await assert.rejects(publisher.publish(records), (error) => isTailraceError(error));
  await publisher.close();
  assert.deepEqual(await readAll(kafka, topic), []);
});

test("a new member with outdated metadata continues at the group's offsets in added partitions", async () => {
  const topic = await kafka.createTopic({ partitions: 2 });
  await using late = openKafka(brokers);
  // Its metadata has two partitions, for five minutes.
  await late.offsetsAt(topic, 0);
  await kafka.addPartitions(topic, 4);

  await using writer = openKafka(brokers);
  const publisher = writer.publisher();
  const write = (value: string): Promise<unknown> =>
    Promise.all([0, 1, 2, 3].map((partition) => publisher.publish({ topic, partition, key: null, value })));
  await write('old');
  const groupId = `${topic}.group`;
  const first = await joinGroup(writer, {
    groupId,
    topics: [topic],
    onRecord: (record) => {
      record.done();
    },
  });
  await first.records.waitFor((records) => records.length === 4);
  await first.close();

  await write('new');
  await using second = await joinGroup(late, { groupId, topics: [topic] });
  await second.records.waitFor(
    (records) => records.filter(({ value }) => String(value) === 'new').length === 4,
  );
  assert.deepEqual(valuesIn(second.records.items), ['new', 'new', 'new', 'new']);
  assert.equal((await readAll(late, topic)).length, 8, 'a follower reads all of them');
  const scanned = [];
  for await (const records of await late.scan({ topic })) scanned.push(...records);
  assert.equal(scanned.length, 8, 'a scan reads all of them');
});

test('members of a group read partitions that are added while they run, from the first record', async () => {
  const topic = await kafka.createTopic({ partitions: 2 });
  const groupId = `${topic}.group`;
  await using member = await joinGroup(kafka, {
    groupId,
    topics: [topic],
    coPartitioned: true,
    onRecord: (record) => {
      record.done();
    },
  });
  await using writer = openKafka(brokers);
  await kafka.addPartitions(topic, 4);
  const publisher = writer.publisher();
  for (const partition of [2, 3]) await publisher.publish({ topic, partition, key: null, value: 'first' });
  await eventually(
    () => member.records.items.length,
    (count) => count === 2,
  );
});
