/** Control on a real Kafka, with one instance in a process of its own: concurrent writers, an instance that is stopped, and one that is killed. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openConfig } from '@tailrace/config';
import type { TrackedRecord } from '@tailrace/kafka';
import { collect, eventually } from '@tailrace/testing';
import { deliveryKey, encodeDelivery } from '@tailrace/records';
import { verifySignature } from '@tailrace/signing';
import fc from 'fast-check';
import { runCli } from '../../packages/cli/src/run.ts';
import { sharedBroker } from '../support/kafka/broker.ts';
import { openKafka } from '../support/kafka/kafka-client.ts';
import { startKafkaProxy } from '../support/kafka/kafka-proxy.ts';
import { createTopics, headerOf, uniquePrefix } from '../support/kafka/topics.ts';
import { adminToken, startControl, startControlHere, type ControlApi } from '../support/processes/control.ts';
import { newDelivery } from '../support/processes/delivery.ts';
import { startReceiver } from '../support/receivers/receiver.ts';

const opened = new AsyncDisposableStack();
after(() => opened.disposeAsync());
const { brokers } = await sharedBroker();
const kafka = opened.use(openKafka(brokers));
const prefix = uniquePrefix();
const names = await createTopics(kafka, prefix, { partitions: 2, retryScheduleMs: [1_000] });
const topics = { TAILRACE_PARTITIONS: '2', TAILRACE_RETRY_SCHEDULE: '1s' };
const here = opened.use(await startControlHere(brokers, prefix, topics));
/** An instance that can be stopped and killed. */
const other = opened.use(await startControl(brokers, prefix, topics));

type Json = Readonly<Record<string, unknown>>;

async function newSource(fields: object = {}): Promise<string> {
  const { id } = await here.expect(201, { method: 'POST', path: '/v1/sources', body: fields });
  return String(id);
}

/** Reads, adds one, and writes with If-Match, until it succeeds. */
async function increment(instance: ControlApi, path: string): Promise<void> {
  for (;;) {
    const read = await instance.ask({ path });
    const { status } = await instance.ask({
      method: 'PATCH',
      path,
      body: { rateLimit: Number(read.json['rateLimit']) + 1 },
      headers: { 'if-match': read.etag },
    });
    if (status === 200) return;
    assert.equal(status, 412);
  }
}

async function openView() {
  const view = await openConfig(kafka, names.config, { warn: () => undefined });
  return Object.assign(view, { [Symbol.asyncDispose]: () => view.close() });
}

test('increments and creations by several writers at two instances are all stored', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { minLength: 2, maxLength: 6 }), async (atOther) => {
      const id = await newSource({ rateLimit: 1 });
      const created = await Promise.all(
        atOther.map(async (isOther) => {
          const instance = isOther ? other : here;
          await increment(instance, `/v1/sources/${id}`);
          const answer = await instance.expect(201, { method: 'POST', path: '/v1/sources' });
          return String(answer['id']);
        }),
      );
      await using view = await openView();
      assert.equal(view.source(id)?.rateLimit, 1 + atOther.length);
      for (const own of created) assert.ok(view.source(own));
    }),
    { numRuns: 4 },
  );
});

test('an instance shows a change of another one that it cannot have read when the request arrives', async () => {
  const path = `/v1/sources/${await newSource()}`;
  const pid = other.process.pid ?? assert.fail('it runs');
  for (const name of ['Anna', 'Bert', 'Carl']) {
    process.kill(pid, 'SIGSTOP');
    try {
      await here.expect(200, { method: 'PATCH', path, body: { name } });
      const shown = other.expect(200, { path });
      process.kill(pid, 'SIGCONT');
      assert.equal((await shown)['name'], name);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  }
});

const users = (count: number): string[] => Array.from({ length: count }, (_, nth) => `user-${nth}`);

/** Resolves once the sync is recorded. */
function upload(instance: ControlApi, name: string, userIds: readonly string[], query = ''): Promise<Json> {
  const bytes = userIds.map((id) => `{"userId":"${id}"}\n`).join('');
  const headers = { 'content-type': 'application/x-ndjson' };
  return instance.expect(202, {
    method: 'PUT',
    path: `/v1/sources/web/audiences/${name}${query}`,
    bytes,
    headers,
  });
}

async function untilEnded(instance: ControlApi, name: string): Promise<Json> {
  const { sync } = await eventually(
    () => instance.expect(200, { path: `/v1/sources/web/audiences/${name}` }),
    ({ sync }) => (sync as Json)['state'] !== 'running',
  );
  return sync as Json;
}

/** `<trait> +user` or `<trait> -user` for each readable call with a trait. */
const changes = collect<string>('the changes', (change) => change);
/** `<source> <user>` for each readable deletion. */
const deletes = collect<string>('the deletions', (deletion) => deletion);
interface SentCall {
  readonly type: string;
  readonly userId: string;
  readonly traits?: object;
}
const events = await kafka.follow({
  topic: names.events,
  onRecord(record) {
    const { type, userId, traits = {} } = JSON.parse(String(record.value)) as SentCall;
    if (type === 'delete') deletes.add(`${headerOf(record, 'source-id') ?? ''} ${userId}`);
    for (const [trait, isMember] of Object.entries(traits))
      changes.add(`${trait} ${isMember ? '+' : '-'}${userId}`);
  },
});
opened.defer(() => events.close());

/** `+user` or `-user`, sorted. */
async function sentChanges(trait: string): Promise<string[]> {
  await events.refresh();
  const found = changes.items.filter((change) => change.startsWith(`${trait} `));
  return found.map((change) => change.slice(trait.length + 1)).sort();
}

/** Resolves once `count` calls with the trait are readable. */
const sentReaches = (trait: string, count: number) =>
  changes.waitFor((all) => all.filter((change) => change.startsWith(`${trait} `)).length >= count);

const joined = (count: number): string[] =>
  users(count)
    .map((id) => `+${id}`)
    .sort();

/** Starts a replay of 30 past events at an instance, and resolves once it has sent some. `ended` resolves with the ids of all that it has sent. */
async function startReplay(instance: ControlApi, destination: object) {
  await here.expect(201, { method: 'POST', path: '/v1/destinations', body: { ...destination, id: 'erp' } });
  const publisher = kafka.publisher();
  for (const userId of users(30)) {
    const value = JSON.stringify({ type: 'track', userId, event: 'Past' });
    await publisher.publish({ topic: names.events, key: userId, value, headers: { 'source-id': 'app' } });
  }
  const groupId = `${prefix}router`;
  const onRecord = (record: TrackedRecord): void => {
    record.done();
  };
  const routed = await kafka.consume({ groupId, topics: [names.events], onRecord });
  opened.defer(() => routed.close());
  const ends = await kafka.ends(names.events);
  await eventually(
    async () => (await kafka.finished(groupId, [names.events])).get(names.events),
    (finished) => [...ends].every(([partition, end]) => (finished?.get(partition)?.[0]?.to ?? 0) >= end),
  );
  const body = { kind: 'events', destination: 'erp', from: '1h', ratePerSecond: 10 };
  const { id } = await instance.expect(202, { method: 'POST', path: '/v1/replays', body });
  const path = `/v1/replays/${String(id)}`;
  await eventually(
    () => instance.expect(200, { path }),
    ({ replayed }) => Number(replayed) > 0,
  );
  return {
    async ended() {
      const ended = await eventually(
        () => here.expect(200, { path }),
        ({ endedAt }) => endedAt !== undefined,
      );
      assert.deepEqual([ended['state'], ended['due'], ended['replayed']], ['done', 30, 30]);
      const ids: string[] = [];
      for await (const records of await kafka.scan({ topic: names.deliveriesReplay })) {
        ids.push(...records.map((record) => headerOf(record, 'delivery-id') ?? ''));
      }
      return ids;
    },
  };
}

test('a killed instance keeps its history, another one finishes its deletion request and its replay, and its sync is sent again from where it ended', async () => {
  for (const id of ['web', 'app'])
    await here.expect(201, { method: 'POST', path: '/v1/sources', body: { id } });
  const settings = { webhooks: [{ url: 'https://crm.example.com/' }] };
  const destination = { id: 'crm', type: 'Webhooks', sources: ['app'], settings };
  await here.expect(201, { method: 'POST', path: '/v1/destinations', body: destination });

  const publisher = kafka.publisher();
  for (const userId of users(20)) {
    const delivery = newDelivery('crm', { key: deliveryKey('crm', userId) });
    await publisher.publish(encodeDelivery(names.deliveries, delivery));
  }
  const list = '/v1/deliveries?destination=crm';
  const isListed = ({ json }: { json: Json }): boolean =>
    (json['items'] as object[] | undefined)?.length === 20;
  const { text: history } = await eventually(() => other.ask({ path: list }), isListed);

  await upload(other, 'Killed', users(2_000), '?ratePerSecond=20');
  await sentReaches('killed', 8);
  const gone = Array.from({ length: 1_000 }, (_, nth) => `gone-${nth}`);
  const deletion = {
    method: 'POST',
    path: '/v1/deletions',
    body: { requestId: 'gdpr-1', userIds: gone },
  };
  const replay = await startReplay(other, destination);
  assert.equal((await other.expect(202, deletion))['state'], 'sending');
  await other.process.kill();

  const finished = await eventually(
    () => here.expect(200, { path: '/v1/deletions/gdpr-1' }),
    ({ state }) => state === 'sent',
  );
  assert.deepEqual(
    (finished['sources'] as Json[]).map(({ sourceId, sent }) => [sourceId, sent]),
    [['app', 1_000]],
  );
  // Readable once the transaction of the killed sync has timed out.
  await deletes.waitFor(gone.length);
  await events.refresh();
  assert.deepEqual([...deletes.items].sort(), gone.map((id) => `app ${id}`).sort());

  const sentAgain = await replay.ended();
  assert.equal(sentAgain.length, 30);
  assert.equal(new Set(sentAgain).size, 30);
  await other.process.restart();
  assert.equal((await eventually(() => other.ask({ path: list }), isListed)).text, history);
  const rebuilt = other.process.log.items.filter(({ msg }) => msg === 'rebuilding history from topics');
  assert.equal(rebuilt.length, 1, 'at the first start');
  const { sync, members } = await other.expect(200, { path: '/v1/sources/web/audiences/Killed' });
  const { state, sent } = sync as { state: string; sent: number };
  assert.deepEqual([state, members], ['interrupted', sent]);
  assert.ok(sent >= 8 && sent < 2_000, String(sent));
  assert.equal((await sentChanges('killed')).length, sent);
  await upload(other, 'Killed', users(2_000));
  const { state: end, total } = await untilEnded(other, 'Killed');
  assert.deepEqual([end, total], ['done', 2_000 - sent]);
  assert.deepEqual(await sentChanges('killed'), joined(2_000));
});

test('restored events are replayed from their topic, each once, and a listener gets signed copies', async () => {
  const topic = names.eventsRestore;
  await kafka.ensureTopics([{ name: topic, partitions: 3, config: {} }]);
  await here.expect(201, { method: 'POST', path: '/v1/sources', body: { id: 'past' } });
  const settings = { sharedSecret: 's3cret', webhooks: [{ url: 'https://past.example.com/' }] };
  const destination = { id: 'past', type: 'Webhooks', sources: ['past'], settings };
  await here.expect(201, { method: 'POST', path: '/v1/destinations', body: destination });
  const receivedAt = new Date(Date.now() - 60 * 86_400_000).toISOString();
  const publisher = kafka.publisher();
  for (const userId of [...users(3), ...users(3)]) {
    const value = JSON.stringify({ type: 'track', event: 'Past', userId, messageId: userId, receivedAt });
    await publisher.publish({ topic, key: userId, value, headers: { 'source-id': 'past' } });
  }
  await using receiver = await startReceiver();
  const said = collect<string>('what the command says', (line) => line);
  const ended = runCli({
    argv: ['listen', '--destination', 'past', '--forward', receiver.url, '--count', '3'],
    env: { TAILRACE_URL: here.url, TAILRACE_API_TOKEN: adminToken },
    out: said.add,
    err: said.add,
  });
  await said.find((line) => line.includes('Forwarding the deliveries of past'));
  const body = { kind: 'events', destination: 'past', topic, from: '61d', until: '59d' };
  const replay = async (): Promise<Json> => {
    const { id } = await here.expect(202, { method: 'POST', path: '/v1/replays', body });
    return eventually(
      () => here.expect(200, { path: `/v1/replays/${String(id)}` }),
      ({ endedAt }) => endedAt !== undefined,
    );
  };
  assert.partialDeepStrictEqual(await replay(), { state: 'done', due: 3, replayed: 3 });
  assert.equal(await ended, 0);
  const sent = receiver.requests.map(({ body, headers, json }) => {
    assert.ok(verifySignature('s3cret', body, headers['x-signature'] ?? ''));
    return (json() as { userId: string }).userId;
  });
  assert.deepEqual(sent.sort(), users(3));
  assert.partialDeepStrictEqual(await replay(), { state: 'done', due: 0, replayed: 0 });
});

test("another audience's open transaction does not hide changes that were sent before", async () => {
  const first = await startControlHere(brokers, prefix, topics);
  await upload(first, 'Stuck', users(300), '?ratePerSecond=30');
  await sentReaches('stuck', 12);
  // Its transaction stays open in all partitions, before the records that the sync writes from here on.
  const [broker = ''] = brokers;
  await using proxy = await startKafkaProxy(broker);
  await using client = openKafka(proxy.brokers);
  const publisher = await client.exclusivePublisher(`${names.audiences}/stuck`);
  proxy.loseCommitAnswers = 1_000;
  proxy.loseProduceAnswers = 1_000;
  const place = { topic: names.audiences, key: 'web/x/y', value: '{}' };
  await assert.rejects(publisher.publish([0, 1].map((partition) => ({ ...place, partition }))));
  await sentReaches('stuck', 100);
  await first[Symbol.asyncDispose]();
  await upload(here, 'Stuck', users(300));
  // Opening the publisher again aborts the transaction.
  await kafka.exclusivePublisher(`${names.audiences}/stuck`);
  assert.equal((await untilEnded(here, 'Stuck'))['state'], 'done');
  assert.deepEqual(await sentChanges('stuck'), joined(300));
});
