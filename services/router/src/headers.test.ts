/** Headers that Kafka allows and librdkafka writes: null, repeated, empty, with any name. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { ConsumedRecord } from '@tailrace/kafka';
import { frame, startFaultyRegistry, type FaultyRegistry } from '@tailrace/registry/testing';
import { eventually } from '@tailrace/testing';
import { names, openStage, type Stage } from './testing/stage.ts';

type Headers = readonly (readonly [name: string, value: string | null])[];

describe('headers of a record', () => {
  let registry: FaultyRegistry;
  let stage: Stage;
  const opened = new AsyncDisposableStack();

  before(async () => {
    registry = opened.use(await startFaultyRegistry());
    stage = opened.use(await openStage({ env: { SCHEMA_REGISTRY_URL: registry.url } }));
  });
  after(() => opened.disposeAsync());
  beforeEach(() => {
    registry.answers(() => 200);
  });

  const page = (userId: string, more: object = {}) => ({ type: 'page', userId, ...more });

  const write = (key: string, value: string | Buffer | null, headers: Headers): Promise<void> =>
    stage.publish({ key, value, headers });

  const delivered = (userId: string): Promise<ConsumedRecord> =>
    stage.deliveries.find(({ key }) => key?.toString() === `crm/${userId}`);

  const rejectionOf = (key: string): Promise<ConsumedRecord> =>
    stage.rejected.find((record) => record.key?.toString() === key);

  /** The headers as text, for comparison. */
  const shown = ({ headerList }: ConsumedRecord): Headers =>
    headerList.map(([name, value]) => [name, value === null ? null : value.toString()]);

  const odd: Headers = [
    ['trace', null],
    ['trace', '1'],
    ['__proto__', 'x'],
    ['trace', '2'],
    ['constructor', null],
    ['error-code', 'mine'],
    ['origin-offset', null],
    ['empty', ''],
  ];
  const ours = ['error-code', 'error-message', 'origin-topic', 'origin-partition', 'origin-offset'];

  test('a null header does not stop the router, on a rejected record or on one whose schema is unknown', async () => {
    await write('null-rejected', '{', [['trace', null]]);
    await write('null-framed', frame(1, page('null-framed')), [
      ['write-key', 'wk_web'],
      ['trace', null],
    ]);
    await rejectionOf('null-rejected');
    await delivered('null-framed');
  });

  test('a header that is empty or null counts as absent, so the next header names the source', async () => {
    const inBody = (userId: string): string => JSON.stringify(page(userId, { writeKey: 'wk_web' }));
    await write('empty-key', inBody('empty-key'), [['write-key', '']]);
    await write('null-key', inBody('null-key'), [['write-key', null]]);
    await write('empty-id', inBody('empty-id'), [['source-id', '']]);
    await write('empty-both', inBody('empty-both'), [
      ['source-id', ''],
      ['write-key', ''],
    ]);
    await write('empty-id-key', JSON.stringify(page('empty-id-key')), [
      ['source-id', ''],
      ['write-key', 'wk_web'],
    ]);
    await write('wrong-key', inBody('wrong-key'), [['write-key', 'wk_wrong']]);
    for (const user of ['empty-key', 'null-key', 'empty-id', 'empty-both', 'empty-id-key'])
      await delivered(user);
    assert.equal((await rejectionOf('wrong-key')).headers['error-code']?.toString(), 'unknown-write-key');
  });

  test('a rejected record keeps its headers in order, before the added ones', async () => {
    await write('odd', '{', odd);
    const record = await rejectionOf('odd');
    assert.deepEqual(shown(record).slice(0, odd.length), odd);
    const added = shown(record).slice(odd.length);
    assert.deepEqual(
      added.map(([name]) => name),
      ours,
    );
    assert.equal(added[0]?.[1], 'malformed-json');
  });

  test('a record that waited for its schema is delivered or rejected with its headers', async () => {
    registry.answers(() => 500);
    const headers: Headers = [['write-key', 'wk_web'], ...odd];
    await write('waited', frame(2, page('waited', { messageId: 'waited-1' })), headers);
    await write('waited-unknown', frame(3, page('waited-unknown')), headers);
    await eventually(() => stage.cluster.records(names.eventsWaiting).length === 2);
    registry.answers((id) => (id === 2 ? 200 : 404));
    await delivered('waited');
    const record = await rejectionOf('waited-unknown');
    assert.deepEqual(shown(record).slice(0, headers.length), headers);
    const added = shown(record).slice(headers.length);
    assert.deepEqual(
      added.map(([name]) => name),
      ours,
    );
    assert.deepEqual([added[0]?.[1], added[2]?.[1]], ['unknown-schema', names.events]);
  });
});
