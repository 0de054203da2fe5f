/** Records that wait for their schemas while the registry fails: which records they delay, and which they do not. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { Kafka, Publisher } from '@tailrace/kafka';
import type { TopicNames } from '@tailrace/topics';
import { eventually } from '@tailrace/testing';
import type { ServiceProcess } from '../support/processes/process.ts';
import { frame, startFaultyRegistry, type FaultyRegistry } from '../support/kafka/registry.ts';
import { startRouter } from '../support/processes/router.ts';
import { headerOf, readAll, watchTopic } from '../support/kafka/topics.ts';

const badId = 1;
const goodId = 2;
const otherId = 3;

let kafka: Kafka;
let names: TopicNames;
let publisher: Publisher;
let registry: FaultyRegistry;
let router: ServiceProcess;
let stage = new AsyncDisposableStack();
beforeEach(async () => {
  stage = new AsyncDisposableStack();
  registry = stage.use(await startFaultyRegistry());
  const started = stage.use(await startRouter(1, { SCHEMA_REGISTRY_URL: registry.url }));
  ({ kafka, names, process: router } = started);
  publisher = kafka.publisher();
});
afterEach(() => stage.disposeAsync());

/** Writes a call whose messageId is its name, in wire format where a schema is given. */
function write(userId: string, name: string, schemaId?: number): Promise<void> {
  const call = { type: 'track', event: 'e', userId, messageId: name };
  const value = schemaId === undefined ? JSON.stringify(call) : frame(schemaId, call);
  return publisher.publish({ topic: names.events, key: userId, value, headers: { 'write-key': 'wk_web' } });
}

const endOf = async (topic: string): Promise<number> =>
  (await kafka.offsetsAt(topic, Date.now() + 3_600_000)).get(0) ?? 0;

/** Resolves once the topic has this number of records. */
async function untilHolds(topic: string, count: number): Promise<void> {
  await eventually(
    () => endOf(topic),
    (end) => end >= count,
  );
}

/** The messageIds that were delivered, by user and in order. */
async function deliveredIds(): Promise<Map<string, string[]>> {
  const records = await readAll(kafka, names.deliveries);
  const byUser = Map.groupBy(records, ({ key }) => key?.toString().replace('crm/', '') ?? '');
  return new Map(
    Array.from(byUser, ([user, list]) => [user, list.map((record) => headerOf(record, 'event-id') ?? '')]),
  );
}

test('one waiting record does not limit the plain JSON of its partition', async () => {
  registry.answers(() => 500);
  await write('ada', 'ada-1', badId);
  const [rounds, perRound] = [13, 10_000];
  for (let round = 0; round < rounds; round += 1) {
    await Promise.all(
      Array.from({ length: perRound }, (_, index) => write(`u${index}`, `plain-${round}-${index}`)),
    );
  }
  await write('ada', 'ada-2');
  await untilHolds(names.deliveries, rounds * perRound);
  await untilHolds(names.eventsWaiting, 2);
  const end = await endOf(names.deliveries);
  registry.answers(() => 200);
  // On a busy machine the group may move the partition, and records after the waiting one are then routed again.
  const ofAda = await eventually(
    async () => {
      const records = await readAll(kafka, names.deliveries);
      return records.filter(({ key }) => key?.toString() === 'crm/ada');
    },
    (found) => found.some((record) => headerOf(record, 'event-id') === 'ada-2'),
  );
  const ids = new Set(ofAda.map((record) => headerOf(record, 'event-id')));
  assert.deepEqual([...ids], ['ada-1', 'ada-2']);
  assert.ok(ofAda.every(({ offset }) => offset >= end));
});

test('a schema that is not available delays its own records and those of their keys only', async () => {
  registry.answers((id) => (id === goodId ? 200 : 500));
  await write('bad', 'bad-1', badId);
  await write('bad', 'bad-2', goodId);
  await write('bad', 'bad-3');
  await write('good', 'good-1', goodId);
  await write('other', 'other-1', otherId);
  await write('other', 'other-2', goodId);
  await untilHolds(names.eventsWaiting, 5);
  await untilHolds(names.deliveries, 1);
  // Other waiting records are routed while the first one waits in the same topic.
  registry.answers((id) => (id === badId ? 500 : 200));
  await untilHolds(names.deliveries, 3);
  // A later record of a key that no longer waits is not enqueued.
  await write('other', 'other-3');
  await untilHolds(names.deliveries, 4);
  assert.equal(await endOf(names.eventsWaiting), 5);
  assert.deepEqual(
    await deliveredIds(),
    new Map([
      ['good', ['good-1']],
      ['other', ['other-1', 'other-2', 'other-3']],
    ]),
  );
  registry.answers(() => 200);
  await untilHolds(names.deliveries, 7);
  assert.deepEqual((await deliveredIds()).get('bad'), ['bad-1', 'bad-2', 'bad-3']);
});

test('more records than the limit in memory wait and arrive in order, also across a kill -9', async () => {
  const [users, rounds] = [5_000, 5];
  const total = users * rounds;
  await registry.shut();
  for (let round = 0; round < rounds; round += 1) {
    const schemaId = round % 2 === 0 ? badId : undefined;
    await Promise.all(
      Array.from({ length: users }, (_, user) =>
        write(`u${user}`, `${round}`.padStart(2, '0') + `-${user}`, schemaId),
      ),
    );
    // While records are being moved to events.waiting.
    if (round !== 2) continue;
    await untilHolds(names.eventsWaiting, total / 4);
    await router.kill();
    await router.restart();
  }
  await untilHolds(names.eventsWaiting, total);
  await write('plain', 'plain-1');
  await untilHolds(names.deliveries, 1);
  assert.equal(await endOf(names.deliveries), 1);

  await registry.open();
  // While the waiting records are being routed.
  await untilHolds(names.deliveries, total / 3);
  await router.kill();
  await router.restart();
  await eventually(
    async () => [...(await deliveredIds()).values()].reduce((sum, ids) => sum + new Set(ids).size, 0),
    (count) => count === total + 1,
  );
  for (const [user, ids] of await deliveredIds()) {
    const firsts = [...new Set(ids)];
    assert.deepEqual(firsts, firsts.toSorted(), user);
  }
});

test('thousands of invented ids cause one request each and delay no other records', async () => {
  registry.answers((id) => (id === goodId ? 200 : 404));
  await using rejected = await watchTopic(kafka, names.eventsRejected);
  const ids = Array.from({ length: 4_000 }, (_, index) => 1_000 + index);
  const writes = ids.map((id) => write(`u${id}`, `invented-${id}`, id));
  await write('good', 'good-1', goodId);
  await write('plain', 'plain-1');
  await Promise.all(writes);
  await untilHolds(names.deliveries, 2);
  const records = await rejected.waitFor(ids.length);
  assert.equal(records.length, ids.length);
  for (const record of records) {
    assert.equal(headerOf(record, 'error-code'), 'unknown-schema');
    assert.equal(headerOf(record, 'origin-topic'), names.events);
    assert.ok(Number(headerOf(record, 'origin-offset')) < ids.length + 2);
  }
  // One for each id, one for the good id, and a few checks for a registry.
  assert.ok(registry.requests <= ids.length + 10, `${registry.requests} requests`);
});

test('a registry that hangs delays only the records that need it', async () => {
  registry.answers((id) => (id === badId ? 'hangs' : 200));
  await write('bad', 'bad-1', badId);
  await write('good', 'good-1', goodId);
  await write('plain', 'plain-1');
  await untilHolds(names.deliveries, 2);
  registry.answers(() => 200);
  await untilHolds(names.deliveries, 3);
});
