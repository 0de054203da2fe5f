/** The router on an in-memory cluster: reads events, writes deliveries and rejected records. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { applyConfiguration, type Configuration } from '@tailrace/config';
import type { ConsumedRecord } from '@tailrace/kafka';
import { headerOf } from '@tailrace/kafka/testing';
import { probesUrlOf } from '@tailrace/service/testing';
import { decodeDelivery, formatPosition, type Delivery } from '@tailrace/records';
import { eventually } from '@tailrace/testing';
import { groupId, names, openStage, toDestination, type Stage } from './testing/stage.ts';

const destination = (id: string, sources: readonly string[], enabled = true) => ({
  id,
  enabled,
  sources: [...sources],
  type: 'Webhooks' as const,
  settings: { webhooks: [{ url: 'https://hooks.example/hook' }] },
});
const configuration: Configuration = {
  sources: [
    { id: 'web', writeKeys: ['wk_web'], enabled: true, schema: { track: { blocked: ['Debug Event'] } } },
    { id: 'off', writeKeys: ['wk_off'], enabled: false },
  ],
  destinations: [
    destination('crm', ['web']),
    destination('erp', ['web']),
    destination('old', ['web'], false),
  ],
};

describe('a router', () => {
  let stage: Stage;
  before(async () => {
    stage = await openStage({ partitions: 3, configuration });
  });
  after(() => stage[Symbol.asyncDispose]());

  let calls = 0;

  /** A valid call of a new user. */
  function newCall(call: object = {}): { userId: string; messageId: string; type: string } {
    calls += 1;
    return { type: 'page', userId: `u-${calls}`, messageId: `m-${calls}`, ...call };
  }

  async function publish(
    call: { userId: string } & object,
    headers: Record<string, string> = { 'source-id': 'web' },
  ): Promise<void> {
    await stage.publish({ key: call.userId, value: JSON.stringify(call), headers });
  }

  function decode(record: ConsumedRecord): Delivery {
    const delivery = decodeDelivery(record);
    if (typeof delivery === 'string') assert.fail(delivery);
    return delivery;
  }

  /** Resolves with the deliveries of the user once there are `count`. */
  async function deliveriesOf(userId: string, count: number): Promise<Delivery[]> {
    const ofUser = (records: readonly ConsumedRecord[]): ConsumedRecord[] =>
      records.filter(({ key }) => key?.toString().endsWith(`/${userId}`));
    return ofUser(await stage.deliveries.waitFor((records) => ofUser(records).length >= count)).map(decode);
  }

  /** The rejected record with this key. */
  function rejectedWithKey(key: string): Promise<ConsumedRecord> {
    return stage.rejected.find((record) => record.key?.toString() === key);
  }

  describe('a valid call', () => {
    test('5.1 6.8 becomes one delivery for each enabled destination of its source, with the same bytes', async () => {
      const call = newCall({
        name: 'Home',
        properties: { path: '/' },
        timestamp: '2026-11-21T08:29:33+0100',
      });
      await publish(call, {
        'source-id': 'web',
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      });
      const found = await deliveriesOf(call.userId, 2);
      assert.deepEqual(found.map(({ destinationId }) => destinationId).sort(), ['crm', 'erp']);
      for (const delivery of found) {
        assert.equal(
          delivery.body.toString(),
          `{"version":1,"type":"page","userId":"${call.userId}","timestamp":"2026-11-21T07:29:33.000Z",` +
            '"properties":{"path":"/","name":"Home"}}',
        );
        assert.equal(delivery.key, `${delivery.destinationId}/${call.userId}`);
        assert.equal(delivery.eventId, call.messageId);
        assert.deepEqual([delivery.sourceId, delivery.type, delivery.attempt], ['web', 'page', 0]);
        const event = stage.cluster.records(names.events).find(({ key }) => String(key) === call.userId);
        assert.ok(event);
        assert.equal(delivery.eventPosition, formatPosition(event));
        assert.match(delivery.traceparent ?? '', /^00-0af7651916cd43dd8448eb211c80319c/);
      }
      assert.notEqual(found[0]?.deliveryId, found[1]?.deliveryId);
    });

    test('16.3 can name its source by write key, in the header or in the body', async () => {
      const byHeader = newCall();
      const byField = newCall({ writeKey: 'wk_web' });
      await publish(byHeader, { 'write-key': 'wk_web' });
      await publish(byField, {});
      await deliveriesOf(byHeader.userId, 2);
      const [delivery] = await deliveriesOf(byField.userId, 2);
      assert.equal(delivery?.sourceId, 'web');
      assert.ok(!delivery.body.includes('wk_web'));
    });

    test('3.1 16.1 without messageId and times gets them from its record', async () => {
      const sentAt = Date.now();
      const { userId, type } = newCall();
      const bare = { userId, type };
      await publish(bare);
      const [delivery] = await deliveriesOf(userId, 2);
      assert.match(delivery?.eventId ?? '', /^[0-9a-f-]{36}$/);
      const { timestamp } = JSON.parse(delivery?.body.toString() ?? '') as { timestamp: string };
      assert.ok(Date.parse(timestamp) >= sentAt && Date.parse(timestamp) <= Date.now(), timestamp);
      assert.equal(delivery?.acceptedAt, Date.parse(timestamp));
    });

    test('11.1 keeps its order among the calls of its user', async () => {
      const { userId } = newCall();
      const count = 200;
      const numbers = Array.from({ length: count }, (_, number) => number);
      await Promise.all(numbers.map((number) => publish({ ...newCall({ properties: { number } }), userId })));
      const found = (await deliveriesOf(userId, 2 * count)).filter(
        ({ destinationId }) => destinationId === 'crm',
      );
      const arrived = found.map(
        ({ body }) => (JSON.parse(body.toString()) as { properties: { number: number } }).properties.number,
      );
      assert.deepEqual(arrived, numbers);
    });

    test('3.2 is dropped if it is a repeat', async () => {
      const call = newCall();
      await publish(call);
      await publish(call);
      await publish({ ...newCall(), userId: call.userId });
      const found = await deliveriesOf(call.userId, 4);
      assert.equal(found.length, 4);
      assert.equal(found.filter(({ eventId }) => eventId === call.messageId).length, 2);
    });

    test('5.4 is not delivered if it is filtered, and a delete is delivered to all destinations', async () => {
      const { userId } = newCall();
      const integrations = { All: false };
      await publish({ ...newCall({ type: 'track', event: 'Debug Event' }), userId });
      await publish({ ...newCall({ integrations }), userId });
      await publish({ ...newCall({ type: 'delete', integrations }), userId });
      const found = await deliveriesOf(userId, 2);
      assert.deepEqual(
        found.map(({ type }) => type),
        ['delete', 'delete'],
      );
    });

    test('of a source that was created a moment ago is routed', async () => {
      await applyConfiguration(stage.kafka, names.config, toDestination('new', 'for-new'));
      const call = newCall();
      await publish(call, { 'write-key': 'wk_new' });
      const [delivery] = await deliveriesOf(call.userId, 1);
      assert.equal(delivery?.destinationId, 'for-new');
    });
  });

  describe('a record that cannot be used', () => {
    const poison: [title: string, value: Buffer | null, headers: Record<string, string>, code: string][] = [
      ['no JSON', Buffer.from([0xff, 0xfe, 1]), { 'source-id': 'web' }, 'malformed-json'],
      ['no value', null, { 'source-id': 'web' }, 'malformed-json'],
      ['the wire format of a registry', Buffer.from([0, 0, 0, 0, 1, 2]), {}, 'unsupported-encoding'],
      ['no source', Buffer.from('{"type":"page","userId":"u"}'), {}, 'unknown-source'],
      ['an unknown source', Buffer.from('{}'), { 'source-id': 'missing' }, 'unknown-source'],
      ['an unknown write key', Buffer.from('{}'), { 'write-key': 'wk_missing' }, 'unknown-write-key'],
      ['a disabled source', Buffer.from('{}'), { 'write-key': 'wk_off' }, 'unknown-write-key'],
      ['a broken rule', Buffer.from('{"type":"track","userId":"u"}'), { 'source-id': 'web' }, 'invalid-call'],
      ['100 KB', Buffer.alloc(100_000, ' '), { 'source-id': 'web' }, 'call-too-large'],
      [
        'objects 5,000 levels deep',
        Buffer.from(`{"type":"page","userId":"u","context":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_001)}`),
        { 'source-id': 'web' },
        'invalid-call',
      ],
    ];
    for (const [title, value, headers, code] of poison) {
      test(`16.5 is rejected as it was received: ${title}`, async () => {
        const { userId: key } = newCall();
        await stage.publish({ key, value, headers: { ...headers, 'x-own': 'kept' } });
        const record = await rejectedWithKey(key);
        assert.deepEqual(record.value, value);
        for (const [name, text] of Object.entries(headers)) assert.equal(headerOf(record, name), text);
        assert.equal(headerOf(record, 'x-own'), 'kept');
        assert.equal(headerOf(record, 'error-code'), code);
        assert.match(headerOf(record, 'error-message') ?? '', /^[A-Za-z].*\.$/);
        assert.doesNotMatch(headerOf(record, 'error-message') ?? '', /wk_/);
        assert.equal(headerOf(record, 'origin-topic'), names.events);
        assert.match(headerOf(record, 'origin-partition') ?? '', /^\d+$/);
        assert.match(headerOf(record, 'origin-offset') ?? '', /^\d+$/);
      });
    }

    test('does not delay later records', async () => {
      const { userId } = newCall();
      for (let i = 0; i < 20; i++) {
        await stage.publish({ key: userId, value: 'poison', headers: {} });
      }
      await publish({ ...newCall(), userId });
      await deliveriesOf(userId, 2);
    });
  });

  test('17.3 the metrics count events and their outcomes', async () => {
    const call = newCall({ integrations: { All: false } });
    const scrape = async (): Promise<Map<string, number>> => {
      const pages = ['', '/sources', '/destinations'].map(async (page) => {
        return (await fetch(`${probesUrlOf(stage.router)}/metrics${page}`)).text();
      });
      return new Map(
        (await Promise.all(pages))
          .join('')
          .split('\n')
          .filter((line) => line.startsWith('tailrace_'))
          .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
      );
    };
    // A test before may end while others of its records are still on their way.
    await eventually(
      () => stage.kafka.inspectGroup(groupId, [names.events]),
      ({ lag }) => lag.get(names.events) === 0,
    );
    const before = await scrape();
    const last = { ...newCall(), userId: call.userId };
    await publish(call);
    await publish(call);
    await publish({ ...newCall({ type: 'track', event: 'Debug Event' }), userId: call.userId });
    await stage.publish({ key: call.userId, value: 'poison' });
    await publish(last);
    await deliveriesOf(call.userId, 2);
    // Deliveries and rejections count once Kafka has acknowledged them.
    const created = 'tailrace_deliveries_created_total';
    const rejected = 'tailrace_events_rejected_total{code="malformed-json"}';
    await eventually(
      scrape,
      (counts) =>
        counts.get(created) === (before.get(created) ?? 0) + 2 &&
        counts.get(rejected) !== before.get(rejected),
    );
    // The pages were read at the same time, so another one may have been a moment behind.
    const after = await scrape();
    const increase = (name: string): number => (after.get(name) ?? 0) - (before.get(name) ?? 0);
    assert.equal(increase('tailrace_events_routed_total{type="page"}'), 2);
    assert.equal(increase('tailrace_source_events_total{source_id="web"}'), 3, 'filtered ones count too');
    assert.equal(increase('tailrace_events_duplicate_total'), 1);
    assert.equal(increase('tailrace_events_rejected_total{code="malformed-json"}'), 1);
    assert.equal(increase('tailrace_deliveries_filtered_total{reason="integrations"}'), 2);
    assert.equal(increase('tailrace_deliveries_filtered_total{reason="schema"}'), 2);
    assert.equal(increase('tailrace_destination_deliveries_created_total{destination_id="crm"}'), 1);
  });
});
