/** `tailrace dead` on an in-memory Kafka cluster: its output, and that each dead letter is published to `deliveries.replay` once. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { countDeadLetters, replayDeadLetters } from '@tailrace/deadletters';
import type { ConsumedRecord, OutgoingRecord } from '@tailrace/kafka';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { eventually, simulateTime } from '@tailrace/testing';
import { topicNames, topicSpecs } from '@tailrace/topology';
import { newDeadLetters, type Letter } from '../support/dead-letters.ts';
import { headerOf } from '../support/kafka/topics.ts';
import { tailrace, type Run } from '../support/processes/cli.ts';

const prefix = 'dead.';
const names = topicNames(prefix);
const env = { KAFKA_BROKERS: 'memory:9092', TAILRACE_TOPIC_PREFIX: prefix };

function newCluster(): MemoryCluster {
  const cluster = new MemoryCluster();
  for (const { name, partitions } of topicSpecs(names, { partitions: 3, retryScheduleMs: [10_000] }))
    cluster.createTopic(name, { partitions });
  return cluster;
}

/** Runs `tailrace dead`. */
const dead = (cluster: MemoryCluster, ...args: readonly string[]): Promise<Run> =>
  tailrace(['dead', ...args], env, '', cluster);

async function writeDeadLetters(
  cluster: MemoryCluster,
  count: number,
  headers?: Readonly<Record<string, string>>,
): Promise<readonly Letter[]> {
  const { letters, records } = newDeadLetters(names.deliveriesDead, count, headers);
  await publish(cluster, records);
  return letters;
}

async function publish(cluster: MemoryCluster, records: readonly OutgoingRecord[]): Promise<void> {
  await using kafka = cluster.connect();
  const publisher = kafka.publisher();
  await Promise.all(records.map((record) => publisher.publish(record)));
  await publisher.close();
}

/** The ids of the replayed deliveries. */
function replayedIds(cluster: MemoryCluster): (string | undefined)[] {
  return cluster
    .records(names.deliveriesReplay)
    .map((record) => headerOf(record, 'delivery-id'))
    .sort();
}

function idsOf(letters: readonly Letter[]): string[] {
  return letters.map(({ deliveryId }) => deliveryId).sort();
}

async function replayRest(cluster: MemoryCluster): Promise<number> {
  const rest = ['--all', '--rate', '10000', '--output', 'json'];
  const { exitCode, stdout, stderr } = await dead(cluster, 'replay', ...rest);
  assert.equal(exitCode, 0, stderr);
  return (JSON.parse(stdout) as { replayed: number }).replayed;
}

test('a replay publishes the dead letter as a delivery without attempts', async () => {
  const cluster = newCluster();
  await writeDeadLetters(cluster, 3);
  assert.equal(await replayRest(cluster), 3);
  const dead = cluster.records(names.deliveriesDead);
  const replays = cluster.records(names.deliveriesReplay);
  assert.equal(replays.length, 3);
  for (const replay of replays) {
    const id = headerOf(replay, 'delivery-id');
    const letter = dead.find((record) => headerOf(record, 'delivery-id') === id);
    assert.ok(letter);
    assert.equal(replay.partition, letter.partition);
    assert.deepEqual([replay.key, replay.value], [letter.key, letter.value]);
    const kept = ['delivery-id', 'event-id', 'source-id', 'destination-id', 'type', 'traceparent'];
    const { 'replayed-by': by = '', ...headers } = textHeaders(replay);
    assert.match(by, /.@./, 'the user of the command line');
    assert.deepEqual(headers, {
      ...Object.fromEntries(kept.map((name) => [name, headerOf(letter, name)])),
      'event-accepted-at': '2026-05-01T08:00:00.000Z',
      attempt: '0',
      'replayed-from': `${letter.partition}/${letter.offset}`,
    });
  }
});

test('a replay keeps headers that this version does not know', async () => {
  const cluster = newCluster();
  await writeDeadLetters(cluster, 1);
  const [letter] = cluster.records(names.deliveriesDead);
  assert.ok(letter);
  const newer = [
    ['x-newer', 'one'],
    ['x-newer', Buffer.from([0xff, 0x00])],
    ['X-Newer', 'another name'],
  ] as const;
  const { partition, key, value, headerList } = letter;
  const renamed = headerList.map(([name, text]) => [name, name === 'delivery-id' ? 'newer' : text] as const);
  await publish(cluster, [
    { topic: names.deliveriesDead, partition, key, value, headers: [...renamed, ...newer] },
  ]);
  assert.equal(await replayRest(cluster), 2);
  const replays = cluster.records(names.deliveriesReplay);
  const replay = replays.find((record) => headerOf(record, 'delivery-id') === 'newer');
  assert.ok(replay);
  assert.deepEqual(
    replay.headerList.filter(([name]) => /^x-newer$/i.test(name)),
    newer.map(([name, text]) => [name, Buffer.from(text)]),
  );
  assert.equal(headerOf(replay, 'replayed-from'), `${partition}/${letter.offset + 1}`);
});

function textHeaders({ headers }: ConsumedRecord): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.toString()]));
}

test('a replay publishes only matching dead letters that were not replayed before', async () => {
  const cluster = newCluster();
  const tracks = await writeDeadLetters(cluster, 4);
  const pages = await writeDeadLetters(cluster, 4, { type: 'page', reason: 'client-error' });
  const ofOther = await writeDeadLetters(cluster, 4, { 'destination-id': 'erp' });
  const run = async (...args: string[]): Promise<string> => {
    const { exitCode, stdout, stderr } = await dead(cluster, 'replay', ...args);
    assert.equal(exitCode, 0, stderr);
    return stdout;
  };
  assert.match(
    await run('--destination', 'crm', '--dry-run'),
    /crm +attempts-exhausted .*\n[^]*\nDry run, nothing was replayed: 8 dead letters would be, in about 1 s\.\n$/,
  );
  assert.deepEqual(replayedIds(cluster), []);
  assert.equal(await run('--type', 'page'), '4 of 4 dead letters replayed.\n');
  assert.deepEqual(replayedIds(cluster), idsOf(pages));
  assert.equal(
    await run('--destination', 'crm', '--since', '1h'),
    '4 of 4 dead letters replayed. 4 others had been replayed before.\n',
  );
  assert.equal(await run('--until', '1h'), '0 of 0 dead letters replayed.\n');
  assert.deepEqual(replayedIds(cluster), idsOf([...tracks, ...pages]));
  assert.equal(await replayRest(cluster), 4);
  assert.deepEqual(replayedIds(cluster), idsOf([...tracks, ...pages, ...ofOther]));
});

test('a delivery that failed again after a replay can be replayed again', async () => {
  const cluster = newCluster();
  const [letter] = await writeDeadLetters(cluster, 1);
  assert.ok(letter);
  assert.equal(await replayRest(cluster), 1);
  await writeDeadLetters(cluster, 1, { 'delivery-id': letter.deliveryId });
  assert.equal(await replayRest(cluster), 1);
  assert.equal(await replayRest(cluster), 0);
  const id = letter.deliveryId;
  assert.deepEqual(replayedIds(cluster), [id, id]);
});

test('a second replay ends the first, and together they publish each dead letter once', async () => {
  const cluster = newCluster();
  const letters = await writeDeadLetters(cluster, 100);
  const slow = dead(cluster, 'replay', '--all', '--rate', '1');
  await eventually(() => replayedIds(cluster).length > 0);
  const rest = await replayRest(cluster);
  assert.ok(rest > 0 && rest < 100, String(rest));
  const { exitCode, stdout, stderr } = await slow;
  assert.deepEqual([exitCode, stdout], [1, '']);
  assert.match(stderr, /^tailrace: Another process has taken over this work\./m);
  assert.deepEqual(replayedIds(cluster), idsOf(letters));
});

test('a replay publishes and counts each dead letter once if responses of Kafka are lost', async () => {
  const cluster = newCluster();
  const letters = await writeDeadLetters(cluster, 40);
  await using kafka = cluster.connect();
  const { ends } = await countDeadLetters(kafka, names);
  const losses = new Map([
    [8, () => (cluster.loseProduceAnswers = 1)],
    [16, () => (cluster.loseCommitAnswers = 1)],
    // A request is repeated five times: one transaction fails, and the next one repeats its second request.
    [24, () => (cluster.loseProduceAnswers = 8)],
  ]);
  const result = await replayDeadLetters(kafka, names, {
    ends,
    ratePerSecond: 40,
    signal: new AbortController().signal,
    onReplayed: (replayed) => losses.get(replayed)?.(),
  });
  assert.deepEqual(result, { replayed: 40, malformed: 0, interrupted: false });
  assert.deepEqual([cluster.loseProduceAnswers, cluster.loseCommitAnswers], [0, 0]);
  assert.deepEqual(replayedIds(cluster), idsOf(letters));
});

test('a replay waits after each tenth of a second of its rate', async () => {
  using time = simulateTime();
  const cluster = newCluster();
  await time.settled(writeDeadLetters(cluster, 6));
  const kafka = cluster.connect();
  const { ends } = await time.settled(countDeadLetters(kafka, names));
  const signal = new AbortController().signal;
  const replaying = replayDeadLetters(kafka, names, { ends, ratePerSecond: 20, signal });
  for (const count of [2, 4]) {
    await time.until(() => replayedIds(cluster).length >= count);
    await time.pass(90);
    assert.equal(replayedIds(cluster).length, count);
  }
  assert.equal((await time.settled(replaying)).replayed, 6);
  await time.settled(kafka.close());
});

test('a malformed record stays a dead letter, and is reported', async () => {
  const cluster = newCluster();
  await writeDeadLetters(cluster, 2);
  const headers = { reason: 'malformed-record', 'last-answer': 'header delivery-id is missing' };
  await publish(cluster, [
    { topic: names.deliveriesDead, partition: 0, key: 'anything', value: 'at all\u001b[2J', headers },
  ]);
  const { stdout } = await dead(cluster, 'replay', '--all');
  assert.equal(
    stdout,
    '2 of 3 dead letters replayed.\n1 dead letter cannot be replayed: malformed, or without a body because the user was deleted.\n',
  );
  const list = await dead(cluster, 'list', '--reason', 'malformed-record');
  assert.match(list.stdout, /Z +- +- +malformed-record +0 +no +0\/1\n1 dead letter\.\n$/);
  const shown = await dead(cluster, 'show', '0/1');
  assert.match(shown.stdout, /\nlast answers\n {2}header delivery-id is missing\n/);
  assert.match(shown.stdout, /\nat all\\u001b\[2J\n$/);
});

test('the list is sorted newest first, and ends with the number of dead letters', async () => {
  const cluster = newCluster();
  await writeDeadLetters(cluster, 5);
  const startedAt = Date.now();
  await eventually(() => Date.now() > startedAt);
  const newest = await writeDeadLetters(cluster, 2, { 'destination-id': 'erp', type: 'identify' });
  const list = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await dead(cluster, 'list', ...args);
    assert.equal(exitCode, 0, stderr);
    return stdout;
  };
  const lines = (await list('--limit', '3')).split('\n');
  assert.match(lines[0] ?? '', /^DIED +DESTINATION +TYPE +REASON +ATTEMPTS +REPLAYED +DELIVERY$/);
  for (const line of lines.slice(1, 3)) assert.match(line, / erp +identify +attempts-exhausted +9 +no /);
  assert.match(lines[3] ?? '', / crm +track /);
  assert.equal(lines[4], '7 dead letters; these are the newest 3.');

  const json = JSON.parse(await list('--destination', 'erp', '--output', 'json')) as {
    matched: number;
    letters: readonly (Letter & { replayed: boolean })[];
  };
  assert.equal(json.matched, 2);
  assert.deepEqual(idsOf(json.letters), idsOf(newest));

  await dead(cluster, 'replay', '--destination', 'erp');
  const counted = (await list('--summary')).split('\n');
  assert.match(counted[0] ?? '', /^COUNT +REPLAYED +DESTINATION +REASON +OLDEST +NEWEST$/);
  assert.match(counted[1] ?? '', /^5 +0 +crm +attempts-exhausted +2\S+Z +2\S+Z$/);
  assert.match(counted[2] ?? '', /^2 +2 +erp +attempts-exhausted +2\S+Z +2\S+Z$/);
  assert.equal(counted[3], '7 dead letters.');
});

test('a dead letter is shown in full, and with --raw its body byte for byte', async () => {
  const cluster = newCluster();
  const [letter] = await writeDeadLetters(cluster, 1);
  assert.ok(letter);
  const { exitCode, stdout } = await dead(cluster, 'show', letter.deliveryId);
  assert.equal(exitCode, 0);
  for (const part of [
    /^died +2\S+Z\nreplayed +no\nlies at +0\/0 of \S+deliveries\.dead\nkey +crm\/user 0\n/,
    /\n {2}delivery-id +[-0-9a-f]{36}\n/,
    /\n {2}closed-urls +abc,def\n/,
    /\nlast answers\n {2}https:\/\/crm\.example\.com\/ +503 +7 ms\n/,
    /\nbody, 26 bytes\n\{\n {2}"version": 1,\n {2}"event": "0"\n\}\n$/,
  ]) {
    assert.match(stdout, part);
  }
  const raw = await dead(cluster, 'show', letter.deliveryId, '--raw');
  assert.equal(raw.stdout, letter.body.toString());
  const missing = await dead(cluster, 'show', randomUUID());
  assert.deepEqual([missing.exitCode, missing.stdout], [1, '']);
  assert.match(missing.stderr, /^tailrace: There is no dead letter of [-0-9a-f]{36}\.\n$/);
});
