/** Deletion requests on a real Kafka: each affected source gets one event for each user, also after failures. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { readCall, webhookBody } from '@tailrace/events';
import type { Destination, Source } from '@tailrace/config';
import type { Kafka } from '@tailrace/kafka';
import { topicNames, type TopicNames } from '@tailrace/topics';
import { openDeletions, totalOf, type Deletions } from '../../services/control/src/deletions/index.ts';
import { openSuppressionStore } from '../../services/control/src/suppressions/store.ts';
import { sharedBroker } from '../support/kafka/broker.ts';
import { eventually } from '@tailrace/testing';
import { openKafka, type TestKafka } from '../support/kafka/kafka-client.ts';
import { startKafkaProxy } from '../support/kafka/kafka-proxy.ts';
import { createTopics, headerOf, readAll, uniquePrefix } from '../support/kafka/topics.ts';

let brokers: readonly string[];
let kafka: TestKafka;
before(async () => {
  ({ brokers } = await sharedBroker());
  kafka = openKafka(brokers);
});
after(() => kafka.close());

interface Stage {
  readonly names: TopicNames;
  open(options?: { client?: Kafka; portion?: number }): Promise<Deletions & AsyncDisposable>;
}

const sources = ['app', 'off', 'quiet', 'web'].map((id): Source => ({
  id,
  writeKeys: [`wk_${id}`],
  enabled: id !== 'off',
}));
const destinationsOf = (sourceId: string): Destination[] =>
  sourceId === 'quiet'
    ? []
    : [
        {
          id: `crm-${sourceId}`,
          type: 'Webhooks',
          enabled: true,
          sources: [sourceId],
          settings: { webhooks: [] },
        },
      ];

async function createStage(): Promise<Stage> {
  const prefix = uniquePrefix();
  await createTopics(kafka, prefix, { partitions: 3, retryScheduleMs: [10_000] });
  const names = topicNames(prefix);
  return {
    names,
    async open({ client = kafka, portion = 500 } = {}) {
      const log = { info: () => undefined, warn: () => undefined };
      const folder = await mkdtemp(path.join(tmpdir(), 'tailrace-deletions-'));
      const suppressions = await openSuppressionStore({ kafka: client, names, folder, log });
      const deletions = await openDeletions({
        ...{ kafka: client, names, suppressions, log },
        audiences: () => [{ sourceId: 'web', trait: 'big_spenders' }],
        config: {
          source: (id) => sources.find((source) => source.id === id),
          sources: () => sources,
          destinationsOf,
          refresh: () => Promise.resolve(),
        },
        takeOverAfterMs: 500,
        portion,
      });
      return {
        create: (wanted) => deletions.create(wanted),
        get: (id) => deletions.get(id),
        list: () => deletions.list(),
        refresh: () => deletions.refresh(),
        lift: (id) => deletions.lift(id),
        write: (work) => deletions.write(work),
        close: () => deletions.close(),
        async [Symbol.asyncDispose]() {
          await deletions.close();
          await suppressions.close();
          await rm(folder, { recursive: true });
        },
      };
    },
  };
}

const users = (count: number): string[] => Array.from({ length: count }, (_, nth) => `user ${nth}`);

/** `<source> <user>` for each readable event, sorted. */
async function sentEvents({ names }: Stage): Promise<string[]> {
  const records = await readAll(kafka, names.events);
  return records
    .map((record) => `${headerOf(record, 'source-id') ?? ''} ${record.key?.toString() ?? ''}`)
    .sort();
}

const expected = (...wanted: readonly (readonly [string, readonly string[]])[]): string[] =>
  wanted.flatMap(([source, ids]) => ids.map((id) => `${source} ${id}`)).sort();

async function untilSent(deletions: Deletions, id: string): Promise<void> {
  await eventually(
    () => deletions.get(id),
    (request) => (request ? request.sent === totalOf(request) : false),
  );
}

test('each enabled source with an enabled destination gets an event for each user, which the router accepts', async () => {
  const stage = await createStage();
  await using deletions = await stage.open();
  const { request, isNew } = await deletions.create({ userIds: ['ada', 'bob', 'ada'] });
  assert.deepEqual([isNew, request.users, request.sent, totalOf(request)], [true, 2, 4, 4]);
  assert.deepEqual(
    request.sources.map(({ sourceId, destinations }) => [sourceId, destinations]),
    [
      ['app', ['crm-app']],
      ['web', ['crm-web']],
    ],
  );
  assert.deepEqual(request.unaffected, [
    { sourceId: 'off', reason: 'disabled' },
    { sourceId: 'quiet', reason: 'no-destination' },
  ]);
  assert.deepEqual(await sentEvents(stage), expected(['app', ['ada', 'bob']], ['web', ['ada', 'bob']]));
  const ids = new Set<string>();
  for (const { value, key } of await readAll(kafka, stage.names.events)) {
    const options = { enriched: true, receivedAt: 0, fallbackMessageId: () => '' };
    const reading = readCall(JSON.parse(value?.toString() ?? ''), options);
    assert.ok(reading.ok);
    assert.match(reading.event.messageId, /^deletion\/[\w-]{22}\/[01]$/);
    ids.add(reading.event.messageId);
    const body = JSON.parse(webhookBody(reading.event)) as object;
    assert.deepEqual(body, { type: 'delete', userId: key?.toString(), timestamp: request.createdAt });
  }
  assert.equal(ids.size, 4);
});

test('a repeated request, in any order and at any instance, is the same request; another request under its id is refused', async () => {
  const stage = await createStage();
  await using one = await stage.open();
  await using two = await stage.open();
  const [first, again] = await Promise.all([
    one.create({ id: 'r1', userIds: ['ada', 'bob'], sources: ['web'] }),
    two.create({ id: 'r1', userIds: ['bob', 'ada'], sources: ['web'] }),
  ]);
  assert.deepEqual([first.isNew, again.isNew].sort(), [false, true]);
  assert.deepEqual(first.request, again.request);
  const later = await one.create({ id: 'r1', userIds: ['ada', 'bob'], sources: ['web'] });
  assert.deepEqual(later, { request: first.request, isNew: false });
  for (const wanted of [
    { id: 'r1', userIds: ['ada'], sources: ['web'] },
    { id: 'r1', userIds: ['ada', 'bob'] },
  ]) {
    await assert.rejects(two.create(wanted), { code: 'conflict' });
  }
  await assert.rejects(two.create({ userIds: ['ada'], sources: ['web', 'nowhere'] }), {
    code: 'invalid-request',
  });
  assert.deepEqual(await sentEvents(stage), expected(['web', ['ada', 'bob']]));
});

test('a request of several portions is sent in the background, and then holds no user ids', async () => {
  const stage = await createStage();
  await using deletions = await stage.open({ portion: 7 });
  const { request } = await deletions.create({ id: 'r1', userIds: users(40) });
  assert.deepEqual([request.marked, request.sent], [7, 0]);
  await untilSent(deletions, 'r1');
  assert.deepEqual(await sentEvents(stage), expected(['app', users(40)], ['web', users(40)]));
  const last = (await readAll(kafka, stage.names.deletions)).at(-1)?.value?.toString() ?? '';
  assert.ok(!last.includes('user 1'), last);
  const marks = await readAll(kafka, stage.names.suppressions);
  assert.deepEqual(
    marks.map(({ key }) => key?.toString()).sort(),
    users(40)
      .map((user) => `deleted/*/${user}`)
      .sort(),
  );
  const left = await readAll(kafka, stage.names.audiences);
  assert.equal(left.length, 40);
  assert.ok(
    left.every(({ key, value }) => key?.toString().startsWith('web/big_spenders/') && value === null),
  );
});

test('another instance sends exactly the rest of a stopped one', async () => {
  const stage = await createStage();
  const one = await stage.open({ portion: 3 });
  await one.create({ id: 'r1', userIds: users(400) });
  await one.close();
  assert.ok((await sentEvents(stage)).length < 800);
  await using two = await stage.open();
  await untilSent(two, 'r1');
  assert.deepEqual(await sentEvents(stage), expected(['app', users(400)], ['web', users(400)]));
});

test('instances that receive requests at the same time send each event once', async () => {
  const stage = await createStage();
  await using one = await stage.open({ portion: 5 });
  await using two = await stage.open({ portion: 5 });
  const ids = Array.from({ length: 6 }, (_, nth) => `r${nth}`);
  await Promise.all(
    ids.map((id, nth) => {
      const userIds = users(10).map((user) => `${id} ${user}`);
      return (nth % 2 === 0 ? one : two).create({ id, userIds });
    }),
  );
  for (const id of ids) await untilSent(one, id);
  const all = ids.flatMap((id) => users(10).map((user) => `${id} ${user}`));
  assert.deepEqual(await sentEvents(stage), expected(['app', all], ['web', all]));
});

test('each event is sent once even if responses of Kafka are lost', async () => {
  const stage = await createStage();
  const [broker = ''] = brokers;
  await using proxy = await startKafkaProxy(broker);
  await using client = openKafka(proxy.brokers);
  await using deletions = await stage.open({ client, portion: 4 });
  proxy.loseCommitAnswers = 1;
  await deletions.create({ id: 'r1', userIds: users(10) });
  proxy.loseProduceAnswers = 8;
  await proxy.lost.waitFor(9);
  await untilSent(deletions, 'r1');
  assert.deepEqual(await sentEvents(stage), expected(['app', users(10)], ['web', users(10)]));
});
