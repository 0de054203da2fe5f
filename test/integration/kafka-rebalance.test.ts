/** A group consumer while its group waits for a member, against a real broker. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { connectKafka } from '@tailrace/kafka';
import { sharedBroker } from '../support/kafka/broker.ts';
import { collect, eventually, limitMs } from '@tailrace/testing';
import { connectAdmin } from '../support/kafka/kafka-admin.ts';
import { joinGroup, openKafka } from '../support/kafka/kafka-client.ts';
import { startKafkaProxy } from '../support/kafka/kafka-proxy.ts';

const ignore = (): void => undefined;

/** A member that the group waits for as long as it stands still. It leaves on SIGTERM. */
const memberProgram = `
  import { Kafka, logLevel } from 'kafkajs';
  const [brokers, topic, limit] = process.argv.slice(1);
  const kafka = new Kafka({ brokers: brokers.split(','), clientId: 'stands-still', logLevel: logLevel.NOTHING });
  const timeouts = { sessionTimeout: Number(limit), rebalanceTimeout: Number(limit) };
  const consumer = kafka.consumer({ groupId: topic + '.group', ...timeouts });
  process.on('SIGTERM', () => consumer.disconnect().then(() => process.exit()));
  await consumer.subscribe({ topics: [topic] });
  await consumer.run({ eachMessage: () => undefined });`;

test('a member receives and commits while its group waits for another one', async () => {
  const { brokers } = await sharedBroker();
  await using kafka = openKafka(brokers);
  await using admin = await connectAdmin(brokers);
  const topic = await kafka.createTopic({ partitions: 2 });
  const group = { groupId: `${topic}.group`, topics: [topic] };

  const lines = collect<string>('lines of the log', (line) => line);
  const debug = (_fields: object, message: string): void => {
    lines.add(message);
  };
  const watched = connectKafka(
    { brokers, clientId: 'stays' },
    { debug, info: ignore, warn: ignore, error: ignore },
  );
  const rebalances: boolean[] = [];
  const stays = await joinGroup(watched, {
    ...group,
    onRebalance: (isSharedOut) => {
      rebalances.push(isSharedOut);
    },
  });
  const other = spawn(
    process.execPath,
    ['--input-type=module', '--eval', memberProgram, brokers.join(','), topic, String(limitMs)],
    { cwd: import.meta.dirname, stdio: 'ignore', timeout: limitMs, killSignal: 'SIGKILL' },
  );
  await eventually(
    () => stays.partitions.length,
    (partitions) => partitions === 1,
  );
  const partition = stays.partitions[0]?.partition ?? NaN;
  const publisher = kafka.publisher();
  await publisher.publish({ topic, partition, key: null, value: 'before' });
  await stays.records.waitFor(1);

  other.kill('SIGSTOP');
  const rebalancesBefore = rebalances.length;
  const linesBefore = lines.items.length;
  const joining = joinGroup(kafka, group);
  await lines.waitFor((all) => all.slice(linesBefore).includes('the group is rebalancing'));
  await publisher.publish({ topic, partition, key: null, value: 'meanwhile' });
  for (const record of await stays.records.waitFor(2)) record.done();
  await eventually(
    () => admin.committed(group.groupId, topic),
    (committed) => committed[partition] === 2,
  );
  assert.equal(rebalances.length, rebalancesBefore, 'the group still waits');

  other.kill('SIGTERM');
  other.kill('SIGCONT');
  const joined = await joining;
  await eventually(
    () => rebalances.slice(rebalancesBefore),
    (since) => String(since).startsWith('true,false'),
  );
  await Promise.all([watched.close(), joined.close()]);
});

test('a member that leaves while the leader of its group assigns the partitions commits what it has finished', async () => {
  const [broker = ''] = (await sharedBroker()).brokers;
  await using proxy = await startKafkaProxy(broker);
  await using kafka = openKafka([broker]);
  await using admin = await connectAdmin([broker]);
  const topic = await kafka.createTopic({ partitions: 2 });
  const group = { groupId: `${topic}.group`, topics: [topic], coPartitioned: true };
  await using ofLeader = openKafka(proxy.brokers);
  const leader = await joinGroup(ofLeader, group);
  let isRebalancing = false;
  const leaves = await joinGroup(kafka, {
    ...group,
    // Too long for a commit by itself.
    commitIntervalMs: limitMs,
    commitsLateAfterMs: limitMs,
    onRebalance: (begins) => {
      isRebalancing = begins;
    },
  });
  await eventually(
    () => [leader.partitions.length, leaves.partitions.length],
    ([ofLeader, ofOther]) => ofLeader === 1 && ofOther === 1,
  );
  const partition = leaves.partitions[0]?.partition ?? NaN;
  await kafka.publisher().publish({ topic, partition, key: null, value: 'finished' });
  const [record] = await leaves.records.waitFor(1);

  proxy.pauseJoinAnswers();
  const joining = joinGroup(kafka, group);
  await eventually(
    () => isRebalancing,
    (is) => is,
  );
  record?.done();
  const closing = leaves.close();
  await eventually(
    () => leaves.totals.commitFailures,
    (failures) => failures > 0,
  );
  proxy.resumeJoinAnswers();
  await closing;
  assert.equal((await admin.committed(group.groupId, topic))[partition], 1);
  await Promise.all([leader.close(), (await joining).close()]);
});
