/** Records that wait for their schemas while the registry fails: which records they delay, and which they do not. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { headerOf } from '@tailrace/kafka/testing';
import { frame, startFaultyRegistry, type FaultyRegistry } from '@tailrace/registry/testing';
import { eventually } from '@tailrace/testing';
import { names, openStage, toCrm, toDestination, type Stage } from '../testing/stage.ts';

const badId = 1;
const goodId = 2;
const otherId = 3;

describe('while the registry fails', () => {
  let registry: FaultyRegistry;
  let stage: Stage;
  let opened: AsyncDisposableStack;
  beforeEach(async () => {
    opened = new AsyncDisposableStack();
    registry = opened.use(await startFaultyRegistry());
    const app = toDestination('app', 'erp');
    const configuration = {
      sources: [...toCrm.sources, ...app.sources],
      destinations: [...toCrm.destinations, ...app.destinations],
    };
    stage = opened.use(await openStage({ env: { SCHEMA_REGISTRY_URL: registry.url }, configuration }));
  });
  afterEach(() => opened.disposeAsync());

  /** Writes a call whose messageId is its name, in wire format where a schema is given. */
  function write(userId: string, name: string, schemaId?: number): Promise<void> {
    const call = { type: 'track', event: 'e', userId, messageId: name };
    const value = schemaId === undefined ? JSON.stringify(call) : frame(schemaId, call);
    return stage.publish({ key: userId, value, headers: { 'write-key': 'wk_web' } });
  }

  const endOf = (topic: string): number => stage.cluster.partition(topic, 0)?.high ?? 0;

  /** Resolves once the topic has this number of records. */
  async function untilHolds(topic: string, count: number): Promise<void> {
    await eventually(() => endOf(topic) >= count);
  }

  /** The messageIds that were delivered, by user and in order. */
  function deliveredIds(): Map<string, string[]> {
    const records = stage.cluster.records(names.deliveries);
    const byUser = Map.groupBy(records, ({ key }) => key?.toString().replace('crm/', '') ?? '');
    return new Map(
      Array.from(byUser, ([user, list]) => [user, list.map((record) => headerOf(record, 'event-id') ?? '')]),
    );
  }

  test('one waiting record does not limit the plain JSON of its partition', async () => {
    registry.answers(() => 500);
    await write('ada', 'ada-1', badId);
    // More than the records of a partition that may be unfinished.
    const [rounds, perRound] = [3, 4_000];
    for (let round = 0; round < rounds; round += 1) {
      await Promise.all(
        Array.from({ length: perRound }, (_, index) => write(`u${index}`, `plain-${round}-${index}`)),
      );
    }
    await write('ada', 'ada-2');
    await untilHolds(names.deliveries, rounds * perRound);
    await untilHolds(names.eventsWaiting, 2);
    assert.ok(!deliveredIds().has('ada'));
    registry.answers(() => 200);
    await untilHolds(names.deliveries, rounds * perRound + 2);
    assert.deepEqual(deliveredIds().get('ada'), ['ada-1', 'ada-2']);
    const positions = stage.cluster
      .records(names.deliveries)
      .filter(({ key }) => String(key) === 'crm/ada')
      .map((record) => headerOf(record, 'event-position'));
    assert.deepEqual(positions, ['0/0', `0/${rounds * perRound + 1}`], 'those in events');
  });

  test('16.4 a schema that is not available delays its own records and those of their keys only', async () => {
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
    assert.equal(endOf(names.eventsWaiting), 5);
    assert.deepEqual(
      deliveredIds(),
      new Map([
        ['good', ['good-1']],
        ['other', ['other-1', 'other-2', 'other-3']],
      ]),
    );
    registry.answers(() => 200);
    await untilHolds(names.deliveries, 7);
    assert.deepEqual(deliveredIds().get('bad'), ['bad-1', 'bad-2', 'bad-3']);
  });

  test('11.1 records of another source with the same key do not wait, and those of the same source do, however they name it', async () => {
    registry.answers(() => 500);
    await write('ada', 'ada-1', badId);
    const later = { type: 'track', event: 'e', userId: 'ada', messageId: 'ada-2' };
    const record = { key: 'ada', value: JSON.stringify(later) };
    await stage.publish({ ...record, headers: { 'source-id': 'app' } });
    await stage.publish({ ...record, headers: { 'source-id': 'web' } });
    await untilHolds(names.eventsWaiting, 2);
    await untilHolds(names.deliveries, 1);
    assert.equal(stage.cluster.records(names.deliveries)[0]?.key?.toString(), 'erp/ada');
    registry.answers(() => 200);
    await untilHolds(names.deliveries, 3);
    assert.deepEqual(deliveredIds().get('ada'), ['ada-1', 'ada-2']);
  });

  test('more records than the limit in memory wait and arrive in order', async () => {
    const [users, rounds] = [4_500, 5];
    const total = users * rounds;
    registry.shut();
    for (let round = 0; round < rounds; round += 1) {
      const schemaId = round % 2 === 0 ? badId : undefined;
      await Promise.all(
        Array.from({ length: users }, (_, user) => write(`u${user}`, `${round}-${user}`, schemaId)),
      );
    }
    await untilHolds(names.eventsWaiting, total);
    await write('plain', 'plain-1');
    await untilHolds(names.deliveries, 1);
    assert.equal(endOf(names.deliveries), 1);

    registry.open();
    await untilHolds(names.deliveries, total + 1);
    for (const [user, ids] of deliveredIds()) assert.deepEqual(ids, ids.toSorted(), user);
  });

  test('hundreds of invented ids cause one request each and delay no other records', async () => {
    registry.answers((id) => (id === goodId ? 200 : 404));
    const ids = Array.from({ length: 500 }, (_, index) => 1_000 + index);
    const writes = ids.map((id) => write(`u${id}`, `invented-${id}`, id));
    await write('good', 'good-1', goodId);
    await write('plain', 'plain-1');
    await Promise.all(writes);
    await untilHolds(names.deliveries, 2);
    const records = await stage.rejected.waitFor(ids.length);
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
});
