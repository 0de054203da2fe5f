import assert from 'node:assert/strict';
import test from 'node:test';
import { simulateTime } from '@tailrace/testing';
import { startPatience } from './patience.ts';
import { MemoryCluster } from '../testing/cluster.ts';

const names = ['a', 'b', 'c'];
const specs = names.map((name) => ({ name, partitions: 4, config: {} }));

/** What is waited for, each once, in order. */
function patienceOf(limitMs?: number) {
  const waits: string[] = [];
  const patience = startPatience((what) => {
    if (waits.at(-1) !== what) waits.push(what);
  }, limitMs);
  return { patience, waits };
}

test('topics are created on a cluster that is slow to elect leaders, which is said meanwhile', async () => {
  using time = simulateTime();
  const cluster = new MemoryCluster();
  await using kafka = cluster.connect();
  cluster.refusals.createTopics.push('NOT_CONTROLLER', 'REQUEST_TIMED_OUT');
  for (const name of ['b', 'c']) cluster.leaderless.add(name);
  cluster.refusals.readEnds.push(...Array<string>(30).fill('NOT_LEADER_FOR_PARTITION'));
  const { patience, waits } = patienceOf();
  const created = kafka.ensureTopics(specs, patience);
  await time.pass(30_000);
  cluster.leaderless.delete('b');
  await time.pass(10_000);
  cluster.leaderless.clear();
  const reports = await time.settled(created);
  assert.deepEqual(
    reports.map(({ outcome }) => outcome),
    ['created', 'created', 'created'],
  );
  assert.deepEqual(waits, [
    'a leader of 4 partitions of b and of partitions of 1 other topic',
    'a leader of 4 partitions of c',
    'the leaders of 3 new topics',
  ]);
});

test('at the end of the patience the error names what was waited for, and the last answer', async () => {
  using time = simulateTime();
  const cluster = new MemoryCluster();
  await using kafka = cluster.connect();
  cluster.refusals.readEnds.push(...Array<string>(1_000).fill('NOT_LEADER_FOR_PARTITION'));
  await assert.rejects(time.settled(kafka.ensureTopics(specs, patienceOf().patience)), {
    code: 'kafka-unavailable',
    message:
      'Still waiting for the leaders of 3 new topics after 120 s. The last error was: NOT_LEADER_FOR_PARTITION. ' +
      'The brokers may be starting or overloaded; their logs say more. The command can be run again, and continues from here.',
  });
});

test('what waiting does not change is an error at once, also beside topics that have to wait', async () => {
  using time = simulateTime();
  const cluster = new MemoryCluster();
  await using kafka = cluster.connect();
  cluster.refusals.createTopics.push('TOPIC_AUTHORIZATION_FAILED', 'INVALID_CONFIG');
  const { patience, waits } = patienceOf();
  await assert.rejects(time.settled(kafka.ensureTopics(specs, patience)), {
    code: 'kafka-permission-missing',
  });
  await assert.rejects(time.settled(kafka.ensureTopics(specs, patience)), {
    code: 'kafka-unavailable',
    message: "Kafka at memory:9092 returned an error: INVALID_CONFIG. The brokers' logs say more.",
  });
  await assert.rejects(kafka.addPartitions('none', 3), { code: 'topic-missing' });
  cluster.stop();
  await assert.rejects(time.settled(kafka.ensureTopics(specs)), /Check KAFKA_BROKERS/);
  assert.deepEqual(waits, []);
});

test('partitions are added once, and their leaders are waited for', async () => {
  using time = simulateTime();
  const cluster = new MemoryCluster();
  await using kafka = cluster.connect();
  await time.settled(kafka.ensureTopics(specs));
  cluster.leaderless.add('a');
  const { patience, waits } = patienceOf();
  const added = kafka.addPartitions('a', 6, patience);
  await time.pass(90_000);
  cluster.leaderless.clear();
  await time.settled(added);
  assert.equal((await kafka.describeTopics(['a'])).get('a')?.partitions, 6);
  assert.deepEqual(waits, ['a leader of 6 partitions of a']);
});

test('partitions are added once where the broker learns of them late', async () => {
  using time = simulateTime();
  const cluster = new MemoryCluster();
  await using kafka = cluster.connect();
  await time.settled(kafka.ensureTopics(specs));
  cluster.knownPartitions.set('a', 4);
  const { patience, waits } = patienceOf();
  const added = kafka.addPartitions('a', 6, patience);
  await time.pass(10_000);
  cluster.knownPartitions.clear();
  await time.settled(added);
  assert.deepEqual(waits, ['the creation of partitions of a']);
});
