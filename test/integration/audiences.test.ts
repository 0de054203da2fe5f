/** Audience syncs on a real Kafka: each change is sent exactly once, also after interruptions. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { readCall } from '@tailrace/events';
import type { ConsumedRecord, Kafka } from '@tailrace/kafka';
import { topicNames, type TopicNames } from '@tailrace/topics';
import { openAudiences, type Audience, type Audiences } from '../../services/control/src/audiences/index.ts';
import { openSuppressionStore } from '../../services/control/src/suppressions/store.ts';
import { sharedBroker } from '../support/kafka/broker.ts';
import { eventually } from '@tailrace/testing';
import { openKafka, type TestKafka } from '../support/kafka/kafka-client.ts';
import { startKafkaProxy } from '../support/kafka/kafka-proxy.ts';
import { createTopics, headerOf, readAll, uniquePrefix, watchTopic } from '../support/kafka/topics.ts';

let brokers: readonly string[];
let kafka: TestKafka;
let folder: string;
before(async () => {
  ({ brokers } = await sharedBroker());
  kafka = openKafka(brokers);
  folder = await mkdtemp(path.join(tmpdir(), 'tailrace-audiences-'));
});
after(async () => {
  await kafka.close();
  await rm(folder, { recursive: true });
});

interface Stage {
  readonly names: TopicNames;
  readonly enabled: Set<string>;
  open(options?: {
    readonly client?: Kafka;
    readonly instance?: string;
  }): Promise<Audiences & AsyncDisposable>;
}

async function createStage(): Promise<Stage> {
  const prefix = uniquePrefix();
  await createTopics(kafka, prefix, { partitions: 3, retryScheduleMs: [10_000] });
  const names = topicNames(prefix);
  const enabled = new Set(['web', 'app']);
  return {
    names,
    enabled,
    async open({ client = kafka, instance = 'one' } = {}) {
      const users = await openSuppressionStore({
        ...{ kafka: client, names, log: kafkaLog },
        folder: path.join(folder, prefix, instance, 'users'),
      });
      const audiences = await openAudiences({
        kafka: client,
        names,
        users,
        config: {
          source: (id) => ({ id, writeKeys: ['wk'], enabled: enabled.has(id) }),
          refresh: () => Promise.resolve(),
        },
        folder: path.join(folder, prefix, instance),
        ratePerSecond: 10_000,
        log: kafkaLog,
      });
      return {
        replace: (upload) => audiences.replace(upload),
        remove: (target) => audiences.remove(target),
        list: (sourceId) => audiences.list(sourceId),
        keys: () => audiences.keys(),
        get: (sourceId, name) => audiences.get(sourceId, name),
        refresh: () => audiences.refresh(),
        close: () => audiences.close(),
        async [Symbol.asyncDispose]() {
          await audiences.close();
          await users.close();
        },
      };
    },
  };
}

const kafkaLog = { info: () => undefined, warn: () => undefined };

const users = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, nth) => `user ${from + nth}`);

interface Wish {
  readonly sourceId?: string;
  readonly name?: string;
  readonly ratePerSecond?: number;
  readonly allowEmpty?: boolean;
}

function upload(audiences: Audiences, userIds: readonly string[], wish: Wish = {}): Promise<Audience> {
  return audiences.replace({
    sourceId: 'web',
    name: 'Big Spenders',
    allowEmpty: false,
    format: 'ndjson',
    stream: Readable.from(userIds.map((id) => Buffer.from(`${JSON.stringify(id)}\n`))),
    ...wish,
  });
}

async function untilEnded(audiences: Audiences, name = 'Big Spenders', sourceId = 'web'): Promise<Audience> {
  const found = await eventually(
    () => audiences.get(sourceId, name),
    (audience) => audience?.sync.state !== 'running',
  );
  assert.ok(found);
  return found;
}

/** Uploads, and resolves with the audience when the sync is done. */
async function sync(audiences: Audiences, userIds: readonly string[], wish: Wish = {}): Promise<Audience> {
  const begun = await upload(audiences, userIds, wish);
  const ended = await untilEnded(audiences, wish.name, wish.sourceId);
  assert.deepEqual([ended.sync.state, ended.sync.id], ['done', begun.sync.id], JSON.stringify(ended.sync));
  return ended;
}

interface SentCall {
  readonly userId: string;
  readonly traits: Readonly<Record<string, boolean>>;
}

function sentCallOf(record: ConsumedRecord): SentCall {
  const { userId, traits } = JSON.parse(record.value?.toString() ?? '') as SentCall;
  return { userId, traits };
}

/** `+user` or `-user` for each readable identify call of the audience, sorted. */
async function sentChanges({ names }: Stage, trait = 'big_spenders'): Promise<string[]> {
  return (await readAll(kafka, names.events))
    .map(sentCallOf)
    .filter(({ traits }) => trait in traits)
    .map(({ userId, traits }) => `${traits[trait] ? '+' : '-'}${userId}`)
    .sort();
}

const joined = (ids: readonly string[]): string[] => ids.map((id) => `+${id}`);
const left = (ids: readonly string[]): string[] => ids.map((id) => `-${id}`);

/** Resolves once `count` calls are readable. */
async function sentReaches({ names }: Stage, count: number): Promise<void> {
  await using events = await watchTopic(kafka, names.events);
  await events.waitFor(count);
}

test('a new audience sends an identify call for each member, in the form that ingest writes', async () => {
  const stage = await createStage();
  await using audiences = await stage.open();
  const { members, sync: ended } = await sync(audiences, [
    'ada',
    'bob',
    'ada',
    'a "quoted" one',
    'nul\0and é',
  ]);
  assert.deepEqual(
    [members, ended.read, ended.members, ended.added, ended.removed, ended.sent, ended.total],
    [4, 5, 4, 4, 0, 4, 4],
  );
  assert.deepEqual(await sentChanges(stage), joined(['a "quoted" one', 'ada', 'bob', 'nul\0and é']));
  for (const record of await readAll(kafka, stage.names.events)) {
    const text = record.value?.toString() ?? '';
    assert.match(text, /^\{"type":"identify","messageId":"audience\/[^"\\]{1,91}","timestamp":/);
    const options = { enriched: true, receivedAt: 0, fallbackMessageId: () => '' };
    const reading = readCall(JSON.parse(text), options);
    assert.ok(reading.ok);
    assert.equal(JSON.stringify(reading.event), text);
    assert.deepEqual(reading.event.traits, { big_spenders: true });
    assert.equal(record.key?.toString(), reading.event.userId);
    assert.equal(headerOf(record, 'source-id'), 'web');
    const { partitionOf } = await kafka.partitioner(stage.names.events);
    assert.equal(record.partition, partitionOf(record.key?.toString() ?? ''));
  }
});

test('a later sync sends only the users who joined or left', async () => {
  const stage = await createStage();
  await using audiences = await stage.open();
  const first = users(0, 3_000);
  await sync(audiences, first);
  const { members, sync: ended } = await sync(audiences, users(10, 3_005));
  assert.deepEqual([members, ended.added, ended.removed, ended.sent], [2_995, 5, 10, 15]);
  const expected = [...joined(users(0, 3_005)), ...left(users(0, 10))].sort();
  assert.deepEqual(await sentChanges(stage), expected);
  assert.equal((await sync(audiences, users(10, 3_005))).sync.total, 0);
  assert.deepEqual(await sentChanges(stage), expected);
});

test('audiences and sources are independent', async () => {
  const stage = await createStage();
  await using audiences = await stage.open();
  await sync(audiences, ['ada', 'bob']);
  await sync(audiences, ['bob'], { name: 'Big' });
  await sync(audiences, ['cleo'], { sourceId: 'app' });
  await sync(audiences, ['ada'], { name: 'Big' });
  assert.deepEqual(await sentChanges(stage, 'big'), ['+ada', '+bob', '-bob']);
  assert.deepEqual(await sentChanges(stage), joined(['ada', 'bob', 'cleo']));
  assert.deepEqual(
    audiences.list('web').map(({ name, trait, members }) => [name, trait, members]),
    [
      ['Big', 'big', 1],
      ['Big Spenders', 'big_spenders', 2],
    ],
  );
});

test('deleting an audience sends that every member left, and frees its name', async () => {
  const stage = await createStage();
  await using audiences = await stage.open();
  await sync(audiences, users(0, 50));
  await audiences.remove({ sourceId: 'web', name: 'Big Spenders' });
  await eventually(
    () => audiences.get('web', 'Big Spenders'),
    (audience) => audience === undefined,
  );
  assert.deepEqual(await sentChanges(stage), [...joined(users(0, 50)), ...left(users(0, 50))].sort());
  assert.deepEqual(audiences.list('web'), []);
  await assert.rejects(audiences.remove({ sourceId: 'web', name: 'Big Spenders' }), { code: 'not-found' });
  await using other = await stage.open({ instance: 'two' });
  assert.deepEqual(other.list('web'), []);
  assert.equal((await sync(other, ['ada'], { name: 'big-spenders' })).sync.added, 1);
});

test('an invalid upload is refused, and changes nothing', async () => {
  const stage = await createStage();
  await using audiences = await stage.open();
  await sync(audiences, ['ada']);
  const refusals: readonly (readonly [readonly string[], Wish, string])[] = [
    [['bob', ''], {}, 'invalid-membership'],
    [[], {}, 'invalid-membership'],
    [['bob'], { name: '!' }, 'invalid-request'],
    [['bob'], { name: 'BigSpenders' }, 'conflict'],
    [['bob'], { sourceId: 'off' }, 'conflict'],
  ];
  for (const [userIds, wish, code] of refusals)
    await assert.rejects(upload(audiences, userIds, wish), { code });
  async function* broken(): AsyncGenerator<Buffer> {
    yield Buffer.from('"bob"\n');
    await Promise.resolve();
    throw new Error('aborted');
  }
  const request = { sourceId: 'web', name: 'Big Spenders', format: 'ndjson', allowEmpty: false } as const;
  await assert.rejects(audiences.replace({ ...request, stream: broken() }), { message: 'aborted' });
  assert.deepEqual(await sentChanges(stage), ['+ada']);
  assert.equal((await sync(audiences, [], { allowEmpty: true })).members, 0);
  assert.deepEqual(await sentChanges(stage), ['+ada', '-ada']);
});

test('a stopped sync is interrupted for every instance, and the same upload sends exactly the rest', async () => {
  const stage = await createStage();
  const first = await stage.open();
  await upload(first, users(0, 400), { ratePerSecond: 20 });
  await sentReaches(stage, 20);
  await first.close();
  const sent = (await sentChanges(stage)).length;
  assert.ok(sent >= 20 && sent < 400, String(sent));
  await using second = await stage.open({ instance: 'two' });
  const interrupted = second.get('web', 'Big Spenders');
  assert.deepEqual(
    [interrupted?.sync.state, interrupted?.sync.sent, interrupted?.members],
    ['interrupted', sent, sent],
  );
  assert.match(interrupted?.sync.problem?.message ?? '', /Sync again: only the rest is sent\.$/);
  const { sync: ended, members } = await sync(second, users(0, 400));
  assert.deepEqual([ended.total, members], [400 - sent, 400]);
  assert.deepEqual(await sentChanges(stage), joined(users(0, 400)).sort());
});

test('a later sync takes over from a running one of the same or another instance', async () => {
  const stage = await createStage();
  await using one = await stage.open();
  await using two = await stage.open({ instance: 'two' });
  const first = await upload(one, users(0, 400), { ratePerSecond: 20 });
  await sentReaches(stage, 20);
  assert.equal(two.get('web', 'Big Spenders')?.sync.state, 'running');
  await sync(two, users(100, 500));
  const seen = await eventually(
    () => one.get('web', 'Big Spenders'),
    (audience) => audience?.sync.id !== first.sync.id,
  );
  assert.deepEqual([seen?.sync.state, seen?.members], ['done', 400]);
  const changes = await sentChanges(stage);
  const members = new Set<string>();
  for (const change of changes.filter((change) => change.startsWith('+'))) {
    assert.ok(!members.has(change.slice(1)), `${change} twice`);
    members.add(change.slice(1));
  }
  for (const change of changes.filter((change) => change.startsWith('-')))
    assert.ok(members.delete(change.slice(1)));
  assert.deepEqual([...members].sort(), users(100, 500).sort());
});

test('disabling the source ends its sync, and every recorded membership was sent', async () => {
  const stage = await createStage();
  await using audiences = await stage.open();
  await upload(audiences, users(0, 400), { ratePerSecond: 20 });
  await sentReaches(stage, 20);
  stage.enabled.delete('web');
  const ended = await untilEnded(audiences);
  assert.deepEqual([ended.sync.state, ended.sync.problem?.code], ['failed', 'unknown-source']);
  assert.equal((await sentChanges(stage)).length, ended.members);
  stage.enabled.add('web');
  await sync(audiences, users(0, 400));
  assert.deepEqual(await sentChanges(stage), joined(users(0, 400)).sort());
});

test('each change is sent once even if responses of Kafka are lost', async () => {
  const stage = await createStage();
  const [broker = ''] = brokers;
  await using proxy = await startKafkaProxy(broker);
  await using client = openKafka(proxy.brokers);
  await using audiences = await stage.open({ client });
  await upload(audiences, users(0, 300), { ratePerSecond: 30 });
  await sentReaches(stage, 60);
  proxy.loseCommitAnswers = 1;
  await proxy.lost.waitFor(1);
  await sentReaches(stage, 150);
  proxy.loseProduceAnswers = 20;
  await proxy.lost.waitFor(21);
  const ended = await untilEnded(audiences);
  assert.deepEqual([ended.sync.state, ended.sync.sent, ended.members], ['done', 300, 300]);
  assert.deepEqual(await sentChanges(stage), joined(users(0, 300)).sort());
});

test("another audience's open transaction does not hide changes that were sent before", async () => {
  const stage = await createStage();
  const first = await stage.open();
  await upload(first, users(0, 300), { ratePerSecond: 30 });
  await sentReaches(stage, 20);
  // Its transaction stays open in all partitions, before the records that the sync writes from here on.
  const [broker = ''] = brokers;
  await using proxy = await startKafkaProxy(broker);
  await using client = openKafka(proxy.brokers);
  const publisher = await client.exclusivePublisher(`${stage.names.audiences}/stuck`);
  proxy.loseCommitAnswers = 1_000;
  proxy.loseProduceAnswers = 1_000;
  const place = { topic: stage.names.audiences, key: 'web/x/y', value: '{}' };
  await assert.rejects(publisher.publish([0, 1, 2].map((partition) => ({ ...place, partition }))));
  await sentReaches(stage, 100);
  await first.close();
  await using second = await stage.open({ instance: 'two' });
  await upload(second, users(0, 300));
  // Opening the publisher again aborts the transaction.
  await kafka.exclusivePublisher(`${stage.names.audiences}/stuck`);
  assert.equal((await untilEnded(second)).sync.state, 'done');
  assert.deepEqual(await sentChanges(stage), joined(users(0, 300)).sort());
});
