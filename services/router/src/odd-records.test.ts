/** Arbitrary records in a partition: each is delivered or rejected unchanged, and none delays the next. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headerOf } from '@tailrace/kafka/testing';
import { names, openStage } from './testing/stage.ts';

const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
const track = (fields: string): string => `{"type":"track","event":"e",${fields}}`;

const poison: [title: string, value: Buffer | string | null, code: string][] = [
  ['a tombstone', null, 'malformed-json'],
  ['nothing', '', 'malformed-json'],
  ['half a call', '{"type":"track","userId":"u', 'malformed-json'],
  ['two calls', '{"type":"page","userId":"u"}{"type":"page","userId":"u"}', 'malformed-json'],
  ['invalid UTF-8', Buffer.from('{"type":"page","userId":"\xff"}', 'latin1'), 'malformed-json'],
  ['a single zero', Buffer.from([0]), 'unsupported-encoding'],
  ['a frame, without a registry', Buffer.from([0, 0, 0, 0, 1, 2, 3]), 'unsupported-encoding'],
  ['a megabyte of junk', Buffer.alloc(1_000_000, 0xc3), 'call-too-large'],
  ['a megabyte of brackets', '['.repeat(1_000_000), 'call-too-large'],
  ['brackets that fit', '['.repeat(30_000), 'malformed-json'],
  ['null', 'null', 'invalid-call'],
  ['a list', '[{"type":"page","userId":"u"}]', 'invalid-call'],
  ['a number', '12345678901234567890', 'invalid-call'],
  ['another type', '{"type":"teleport","userId":"u"}', 'invalid-call'],
  ['no user', '{"type":"page"}', 'invalid-call'],
  ['a user in the prototype', '{"type":"page","__proto__":{"userId":"u"}}', 'invalid-call'],
  ['a user id that is no whole number', '{"type":"page","userId":1e400}', 'invalid-call'],
  ['a user id of 900 KB', `{"type":"page","userId":"${'u'.repeat(900_000)}"}`, 'call-too-large'],
  ['a user id of 60 KB', `{"type":"page","userId":"${'u'.repeat(60_000)}"}`, 'invalid-call'],
  ['a user id with half a surrogate pair', '{"type":"page","userId":"u\\ud800"}', 'invalid-call'],
  ['a message id with half a surrogate pair', track('"userId":"u","messageId":"m\\udbff"'), 'invalid-call'],
  ['properties that are a large number', track('"userId":"u","properties":1e400'), 'invalid-call'],
  ['deep nesting', track(`"userId":"u","properties":${nested(5_000)}`), 'invalid-call'],
  [
    'deep nesting of lists',
    track(`"userId":"u","properties":{"a":${'['.repeat(9e3)}${']'.repeat(9e3)}}`),
    'invalid-call',
  ],
  ['a time that is none', track('"userId":"u","timestamp":"yesterday"'), 'invalid-call'],
];

/** Properties of calls, and how they arrive. */
const kept: [title: string, call: (userId: string) => string, properties: string][] = [
  [
    'numbers without loss',
    (userId) => track(`"userId":"${userId}","properties":{"id":9007199254740993,"far":-1e400,"one":1.0}`),
    '{"id":9007199254740993,"far":-1e400,"one":1}',
  ],
  [
    'half surrogate pairs, escaped',
    (userId) => track(`"userId":"${userId}","properties":{"k\\ud800":"v\\udbff"}`),
    '{"k\\ud800":"v\\udbff"}',
  ],
  [
    'keys that name the prototype',
    (userId) => track(`"userId":"${userId}","properties":{"__proto__":{"x":1},"constructor":2}`),
    '{"__proto__":{"x":1},"constructor":2}',
  ],
  [
    'the last of duplicate keys',
    (userId) => track(`"userId":"other","userId":"${userId}","properties":{"a":1,"a":2}`),
    '{"a":2}',
  ],
  [
    '5,000 properties',
    (userId) =>
      track(
        `"userId":"${userId}","properties":{${Array.from({ length: 5_000 }, (_, n) => `"p${n}":1`).join(',')}}`,
      ),
    `{${Array.from({ length: 5_000 }, (_, n) => `"p${n}":1`).join(',')}}`,
  ],
];

test('in a mixture of all kinds, each record is delivered or rejected, byte for byte and in order', async () => {
  await using stage = await openStage();
  const { deliveries, rejected } = stage;
  const users: string[] = [];
  const publish = (key: string | null, value: Buffer | string | null, headers = {}): void => {
    void stage.publish({ key, value, headers: { 'source-id': 'web', ...headers } });
  };
  const publishGood = (): void => {
    const userId = `good-${users.length}`;
    users.push(userId);
    publish(userId, track(`"userId":"${userId}"`));
  };

  for (const [index, [, value]] of poison.entries()) {
    publishGood();
    publish(`poison-${index}`, value, { 'x-own': 'kept' });
  }
  for (const [index, [, call]] of kept.entries()) publish(`kept-${index}`, call(`kept-${index}`));
  publish(null, track('"userId":"without-a-key"'));
  publishGood();

  const all = await deliveries.waitFor(users.length + kept.length + 1);
  const delivered = all.map(({ key }) => key?.toString().replace('crm/', '') ?? '');
  assert.deepEqual(
    delivered.filter((user) => user.startsWith('good-')),
    users,
  );
  assert.equal(delivered.length, users.length + kept.length + 1);

  for (const [index, [title, , properties]] of kept.entries()) {
    const body = all.find(({ key }) => key?.toString() === `crm/kept-${index}`)?.value?.toString() ?? '';
    assert.ok(body.endsWith(`"properties":${properties}}`), `${title}: ${body.slice(0, 200)}`);
  }

  const records = await rejected.waitFor(poison.length);
  assert.equal(records.length, poison.length);
  for (const [index, [title, value, code]] of poison.entries()) {
    const record = records.find(({ key }) => key?.toString() === `poison-${index}`);
    assert.ok(record, title);
    assert.deepEqual(record.value, typeof value === 'string' ? Buffer.from(value) : value, title);
    assert.equal(headerOf(record, 'error-code'), code, title);
    assert.match(headerOf(record, 'error-message') ?? '', /^[A-Za-z].*\.$/, title);
    assert.deepEqual(
      ['x-own', 'origin-topic', 'origin-partition', 'origin-offset'].map((name) => headerOf(record, name)),
      ['kept', names.events, '0', String(2 * index + 1)],
      title,
    );
  }
});
