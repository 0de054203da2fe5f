/**
 * `tailrace dead` as a process on a real Kafka, without the delivery service: its output, and that each dead letter
 * is published to `deliveries.replay` once, also after interruptions.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { replayDeadLetters, countDeadLetters } from '@tailrace/deadletters';
import type { ConsumedRecord, OutgoingRecord } from '@tailrace/kafka';
import { topicNames, type TopicNames } from '@tailrace/topics';
import { sharedBroker } from '../support/kafka/broker.ts';
import { startTailrace, tailrace, type RunningCommand } from '../support/processes/cli.ts';
import { eventually } from '@tailrace/testing';
import { openKafka, type TestKafka } from '../support/kafka/kafka-client.ts';
import { startKafkaProxy } from '../support/kafka/kafka-proxy.ts';
import type { Environment } from '../support/processes/process.ts';
import { createTopics, headerOf, readAll, uniquePrefix, watchTopic } from '../support/kafka/topics.ts';

let brokers: readonly string[];
let kafka: TestKafka;
before(async () => {
  ({ brokers } = await sharedBroker());
  kafka = openKafka(brokers);
});
after(() => kafka.close());

interface Stage {
  readonly names: TopicNames;
  readonly env: Environment;
}

async function createStage(): Promise<Stage> {
  const prefix = uniquePrefix();
  await createTopics(kafka, prefix, { partitions: 3, retryScheduleMs: [10_000] });
  return {
    names: topicNames(prefix),
    env: { KAFKA_BROKERS: brokers.join(','), TAILRACE_TOPIC_PREFIX: prefix },
  };
}

interface Letter {
  readonly deliveryId: string;
  readonly body: Buffer;
}

/** Writes dead letters as the delivery service does. */
async function writeDeadLetters(
  { names }: Stage,
  count: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<Letter[]> {
  const letters = Array.from({ length: count }, (_, nth) => ({
    deliveryId: randomUUID(),
    body: Buffer.from(`{"version":1, "event":"${nth}"}`),
  }));
  await publish(
    letters.map(({ deliveryId, body }, nth) => ({
      topic: names.deliveriesDead,
      partition: nth % 3,
      key: `crm/user ${nth}`,
      value: body,
      headers: {
        'delivery-id': deliveryId,
        'event-id': `event ${nth}`,
        'source-id': 'web',
        'destination-id': 'crm',
        type: 'track',
        traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`,
        attempt: '9',
        'first-attempt-at': '2026-05-01T08:00:00.000Z',
        'closed-urls': 'abc,def',
        reason: 'attempts-exhausted',
        'last-answer': '[{"url":"https://crm.example.com/","status":503,"latencyMs":7}]',
        ...headers,
      },
    })),
  );
  return letters;
}

async function publish(records: readonly OutgoingRecord[]): Promise<void> {
  const publisher = kafka.publisher();
  await Promise.all(records.map((record) => publisher.publish(record)));
  await publisher.close();
}

async function idsIn(topic: string): Promise<(string | undefined)[]> {
  return (await readAll(kafka, topic)).map((record) => headerOf(record, 'delivery-id')).sort();
}

function idsOf(letters: readonly Letter[]): string[] {
  return letters.map(({ deliveryId }) => deliveryId).sort();
}

/** Resolves when `count` replays can be read. */
async function replaysReach({ names }: Stage, count: number): Promise<void> {
  await using replays = await watchTopic(kafka, names.deliveriesReplay);
  await replays.waitFor(count);
}

/** Starts a slow replay of all dead letters, and resolves when some are replayed. */
async function startSlowReplay(stage: Stage): Promise<RunningCommand> {
  const running = startTailrace(['dead', 'replay', '--all', '--rate', '4'], stage.env);
  await replaysReach(stage, 4);
  return running;
}

async function replayRest(stage: Stage): Promise<number> {
  const { exitCode, stdout, stderr } = await tailrace(
    ['dead', 'replay', '--all', '--rate', '10000', '--output', 'json'],
    stage.env,
  );
  // A command that takes longer than ten seconds writes its progress to standard error.
  assert.equal(exitCode, 0, stderr);
  return (JSON.parse(stdout) as { replayed: number }).replayed;
}

test('a replay publishes the dead letter as a delivery without attempts', async () => {
  const stage = await createStage();
  await writeDeadLetters(stage, 3);
  assert.equal(await replayRest(stage), 3);
  const dead = await readAll(kafka, stage.names.deliveriesDead);
  const replays = await readAll(kafka, stage.names.deliveriesReplay);
  assert.equal(replays.length, 3);
  for (const replay of replays) {
    const id = headerOf(replay, 'delivery-id');
    const letter = dead.find((record) => headerOf(record, 'delivery-id') === id);
    assert.ok(letter);
    assert.equal(replay.partition, letter.partition);
    assert.deepEqual([replay.key, replay.value], [letter.key, letter.value]);
    const kept = ['delivery-id', 'event-id', 'source-id', 'destination-id', 'type', 'traceparent'];
    assert.deepEqual(textHeaders(replay), {
      ...Object.fromEntries(kept.map((name) => [name, headerOf(letter, name)])),
      'event-accepted-at': '2026-05-01T08:00:00.000Z',
      attempt: '0',
      'replayed-from': `${letter.partition}/${letter.offset}`,
    });
  }
});

test('a replay keeps headers that this version does not know', async () => {
  const stage = await createStage();
  await writeDeadLetters(stage, 1);
  const [letter] = await readAll(kafka, stage.names.deliveriesDead);
  assert.ok(letter);
  const newer = [
    ['x-newer', 'one'],
    ['x-newer', Buffer.from([0xff, 0x00])],
    ['X-Newer', 'another name'],
  ] as const;
  const { partition, key, value, headerList } = letter;
  const renamed = headerList.map(([name, text]) => [name, name === 'delivery-id' ? 'newer' : text] as const);
  await publish([
    { topic: stage.names.deliveriesDead, partition, key, value, headers: [...renamed, ...newer] },
  ]);
  assert.equal(await replayRest(stage), 2);
  const replays = await readAll(kafka, stage.names.deliveriesReplay);
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
  const stage = await createStage();
  const tracks = await writeDeadLetters(stage, 4);
  const pages = await writeDeadLetters(stage, 4, { type: 'page', reason: 'client-error' });
  const ofOther = await writeDeadLetters(stage, 4, { 'destination-id': 'erp' });
  const run = async (...args: string[]): Promise<string> => {
    const { exitCode, stdout, stderr } = await tailrace(['dead', 'replay', ...args], stage.env);
    assert.equal(exitCode, 0, stderr);
    return stdout;
  };
  assert.match(
    await run('--destination', 'crm', '--dry-run'),
    /crm +attempts-exhausted .*\n[^]*\nDry run, nothing was replayed: 8 dead letters would be, in about 1 s\.\n$/,
  );
  assert.deepEqual(await idsIn(stage.names.deliveriesReplay), []);
  assert.equal(await run('--type', 'page'), '4 of 4 dead letters replayed.\n');
  assert.deepEqual(await idsIn(stage.names.deliveriesReplay), idsOf(pages));
  assert.equal(
    await run('--destination', 'crm', '--since', '1h'),
    '4 of 4 dead letters replayed. 4 others had been replayed before.\n',
  );
  assert.equal(await run('--until', '1h'), '0 of 0 dead letters replayed.\n');
  assert.deepEqual(await idsIn(stage.names.deliveriesReplay), idsOf([...tracks, ...pages]));
  assert.equal(await replayRest(stage), 4);
  assert.deepEqual(await idsIn(stage.names.deliveriesReplay), idsOf([...tracks, ...pages, ...ofOther]));
});

test('a delivery that failed again after a replay can be replayed again', async () => {
  const stage = await createStage();
  const [letter] = await writeDeadLetters(stage, 1);
  assert.ok(letter);
  assert.equal(await replayRest(stage), 1);
  await writeDeadLetters(stage, 1, { 'delivery-id': letter.deliveryId });
  assert.equal(await replayRest(stage), 1);
  assert.equal(await replayRest(stage), 0);
  const id = letter.deliveryId;
  assert.deepEqual(await idsIn(stage.names.deliveriesReplay), [id, id]);
});

test('Ctrl-C ends a replay after the batch in flight, and the same command continues', async () => {
  const stage = await createStage();
  const letters = await writeDeadLetters(stage, 60);
  const running = await startSlowReplay(stage);
  running.kill('SIGINT');
  const { exitCode, stdout } = await running.ended;
  assert.equal(exitCode, 130);
  const done = Number(/^Interrupted: (\d+) of 60 dead letters replayed\. /.exec(stdout)?.[1]);
  assert.ok(done >= 4 && done < 60, stdout);
  assert.equal((await idsIn(stage.names.deliveriesReplay)).length, done);
  assert.equal(await replayRest(stage), 60 - done);
  assert.deepEqual(await idsIn(stage.names.deliveriesReplay), idsOf(letters));
});

test('after kill -9 the same command continues', async () => {
  const stage = await createStage();
  const letters = await writeDeadLetters(stage, 60);
  const running = await startSlowReplay(stage);
  running.kill('SIGKILL');
  assert.equal((await running.ended).exitCode, null);
  const rest = await replayRest(stage);
  assert.ok(rest > 0 && rest <= 56, String(rest));
  assert.deepEqual(await idsIn(stage.names.deliveriesReplay), idsOf(letters));
});

test('a second replay ends the first, and together they publish each dead letter once', async () => {
  const stage = await createStage();
  const letters = await writeDeadLetters(stage, 100);
  const first = await startSlowReplay(stage);
  const rest = await replayRest(stage);
  assert.ok(rest > 0 && rest <= 96, String(rest));
  const { exitCode, stdout, stderr } = await first.ended;
  assert.deepEqual([exitCode, stdout], [1, '']);
  assert.match(stderr, /^tailrace: Another process has taken over this work\./m);
  assert.deepEqual(await idsIn(stage.names.deliveriesReplay), idsOf(letters));
});

test('a replay publishes and counts each dead letter once if responses of Kafka are lost', async () => {
  const stage = await createStage();
  const letters = await writeDeadLetters(stage, 40);
  const [broker = ''] = brokers;
  await using proxy = await startKafkaProxy(broker);
  await using client = openKafka(proxy.brokers);
  const { ends } = await countDeadLetters(client, stage.names);
  const losses = new Map([
    [8, () => (proxy.loseProduceAnswers = 1)],
    [16, () => (proxy.loseCommitAnswers = 1)],
    [24, () => (proxy.loseProduceAnswers = 20)],
  ]);
  const result = await replayDeadLetters(client, stage.names, {
    ends,
    ratePerSecond: 40,
    signal: new AbortController().signal,
    onReplayed: (replayed) => losses.get(replayed)?.(),
  });
  assert.deepEqual(result, { replayed: 40, malformed: 0, interrupted: false });
  assert.equal(proxy.lost.items.length, 22);
  assert.deepEqual(await idsIn(stage.names.deliveriesReplay), idsOf(letters));
});

test('a replay is no faster than its rate', async () => {
  const stage = await createStage();
  await writeDeadLetters(stage, 60);
  const { ends } = await countDeadLetters(kafka, stage.names);
  const startedAt = performance.now();
  await replayDeadLetters(kafka, stage.names, {
    ends,
    ratePerSecond: 20,
    signal: new AbortController().signal,
  });
  // Two records per batch, a tenth of a second apart; timers are accurate to some milliseconds.
  assert.ok(performance.now() - startedAt >= 2_900 - 50);
});

test('a malformed record stays a dead letter, and is reported', async () => {
  const stage = await createStage();
  await writeDeadLetters(stage, 2);
  const headers = { reason: 'malformed-record', 'last-answer': 'header delivery-id is missing' };
  await publish([
    { topic: stage.names.deliveriesDead, partition: 0, key: 'anything', value: 'at all\u001b[2J', headers },
  ]);
  const { stdout } = await tailrace(['dead', 'replay', '--all'], stage.env);
  assert.equal(
    stdout,
    '2 of 3 dead letters replayed.\n1 dead letter cannot be replayed: malformed, or without a body because the user was deleted.\n',
  );
  const list = await tailrace(['dead', 'list', '--reason', 'malformed-record'], stage.env);
  assert.match(list.stdout, /Z +- +- +malformed-record +0 +no +0\/1\n1 dead letter\.\n$/);
  const shown = await tailrace(['dead', 'show', '0/1'], stage.env);
  assert.match(shown.stdout, /\nlast answers\n {2}header delivery-id is missing\n/);
  assert.match(shown.stdout, /\nat all\\u001b\[2J\n$/);
});

test('the list is sorted newest first, and ends with the number of dead letters', async () => {
  const stage = await createStage();
  await writeDeadLetters(stage, 5);
  await eventually(
    (
      (start: number) => () =>
        Date.now() - start
    )(Date.now()),
    (passedMs) => passedMs > 10,
  );
  const newest = await writeDeadLetters(stage, 2, { 'destination-id': 'erp', type: 'identify' });
  const list = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await tailrace(['dead', 'list', ...args], stage.env);
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

  await tailrace(['dead', 'replay', '--destination', 'erp'], stage.env);
  const counted = (await list('--summary')).split('\n');
  assert.match(counted[0] ?? '', /^COUNT +REPLAYED +DESTINATION +REASON +OLDEST +NEWEST$/);
  assert.match(counted[1] ?? '', /^5 +0 +crm +attempts-exhausted +2\S+Z +2\S+Z$/);
  assert.match(counted[2] ?? '', /^2 +2 +erp +attempts-exhausted +2\S+Z +2\S+Z$/);
  assert.equal(counted[3], '7 dead letters.');
});

test('a dead letter is shown in full, and with --raw its body byte for byte', async () => {
  const stage = await createStage();
  const [letter] = await writeDeadLetters(stage, 1);
  assert.ok(letter);
  const { exitCode, stdout } = await tailrace(['dead', 'show', letter.deliveryId], stage.env);
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
  const raw = await tailrace(['dead', 'show', letter.deliveryId, '--raw'], stage.env);
  assert.equal(raw.stdout, letter.body.toString());
  const missing = await tailrace(['dead', 'show', randomUUID()], stage.env);
  assert.deepEqual([missing.exitCode, missing.stdout], [1, '']);
  assert.match(missing.stderr, /^tailrace: There is no dead letter of [-0-9a-f]{36}\.\n$/);
});
