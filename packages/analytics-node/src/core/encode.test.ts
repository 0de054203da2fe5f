import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJson, readCall, webhookBody } from '@tailrace/events';
import fc from 'fast-check';
import { nodePlatform } from '../node/platform.ts';
import { encodeCall as encode, type Call } from './encode.ts';
import { AnalyticsError } from './errors.ts';
import type { CallType, Messages, Track } from './messages.ts';
import { isIso8601 } from './timestamp.ts';

const encodeCall = <T extends CallType>(type: T, message: Messages[T], shared?: object): Call =>
  encode(type, message, nodePlatform, shared);

const parse = ({ json }: Call): Record<string, unknown> => JSON.parse(json) as Record<string, unknown>;

/** The error of a track call with these fields. JavaScript callers may pass any value. */
function errorOf(fields: object): AnalyticsError {
  try {
    encodeCall('track', { userId: 'ada', event: 'E', ...fields });
  } catch (error) {
    assert.ok(error instanceof AnalyticsError, String(error));
    return error;
  }
  return assert.fail('it was encoded');
}

test('a value without JSON is refused, and the error names its field', () => {
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  const throwing = {
    toJSON: () => {
      throw new Error('not today');
    },
  };
  assert.equal(errorOf({ properties: cycle }).field, 'properties');
  assert.equal(errorOf({ context: { count: 1n } }).field, 'context');
  const error = errorOf({ traits: { a: 1 }, integrations: { throwing } });
  assert.deepEqual([error.code, error.field], ['invalid-message', 'integrations']);
  assert.match(error.message, /not today/);
});

test('a message that cannot be read is refused', () => {
  const fail = (): never => {
    throw new Error('not today');
  };
  const getter = {
    get context() {
      return fail();
    },
  };
  const unreadable = [new Proxy(getter, {}), { traits: new Proxy({}, { ownKeys: fail }) }];
  for (const fields of unreadable) {
    assert.throws(
      () => encodeCall('identify', Object.assign(Object.create(fields), { userId: 'ada' }) as Track),
      {
        code: 'invalid-message',
        message: 'The identify call cannot be sent: it cannot be read: not today.',
      },
    );
  }
  const toJSON = (): never => {
    throw Object.create(null);
  };
  assert.match(errorOf({ properties: { toJSON } }).message, /a value without a text was thrown/);
});

test('a field of a wrong type is refused, and the error names it', () => {
  const wrong = {
    userId: 7,
    anonymousId: {},
    event: [],
    messageId: 1,
    name: true,
    category: 0,
    properties: 'text',
    traits: [1],
    context: 1,
    integrations: [],
    timestamp: 1_700_000_000_000,
  };
  for (const [field, value] of Object.entries(wrong)) assert.equal(errorOf({ [field]: value }).field, field);
  assert.equal(errorOf({ timestamp: new Date(NaN) }).field, 'timestamp');
  for (const message of [undefined, null, 'text']) {
    assert.throws(() => encodeCall('track', message as unknown as Track), { code: 'invalid-message' });
  }
});

test('a whole number beyond 2^53 keeps its digits to the webhook body, as JSON.rawJSON', () => {
  const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => object };
  const call = encodeCall('track', {
    userId: 'ada',
    event: 'E',
    properties: { id: rawJSON('9223372036854775807') },
  });
  const options = { receivedAt: Date.now(), fallbackMessageId: () => 'none' };
  // Ingest, the topic, the router.
  const received = readCall(parseJson(call.json), options);
  assert.ok(received.ok);
  const routed = readCall(parseJson(JSON.stringify(received.event)), { ...options, enriched: true });
  assert.ok(routed.ok);
  assert.match(webhookBody(routed.event), /"properties":\{"id":9223372036854775807\}/);
});

test('a messageId is counted in characters, and must be encodable', () => {
  assert.equal(
    parse(encodeCall('page', { userId: 'ada', messageId: '🎉'.repeat(100) }))['messageId'],
    '🎉'.repeat(100),
  );
  assert.equal(errorOf({ messageId: '🎉'.repeat(101) }).field, 'messageId');
  assert.equal(errorOf({ messageId: 'half \ud83c' }).field, 'messageId');
});

test('a Date is written as ISO 8601 in UTC', () => {
  const timestamp = new Date('2014-02-03T04:05:06.789+01:00');
  assert.equal(
    parse(encodeCall('page', { userId: 'ada', timestamp }))['timestamp'],
    '2014-02-03T03:05:06.789Z',
  );
});

test('a Date beyond the years 0000 to 9999 is refused', () => {
  for (const ms of [8.64e15, -1e15, NaN]) {
    assert.equal(errorOf({ timestamp: new Date(ms) }).field, 'timestamp');
  }
});

test('the size of a call is counted in bytes', () => {
  const call = encodeCall('identify', { userId: 'Zoë', traits: { emoji: '🎉' } });
  assert.equal(call.bytes, Buffer.byteLength(call.json));
  assert.ok(call.bytes > call.json.length);
});

test('the context of a call overrides the shared context', () => {
  const shared = { library: { name: 'x' }, app: { name: 'Shop' } };
  const call = encodeCall('track', { userId: 'ada', event: 'E', context: { app: 'own', ip: '::1' } }, shared);
  assert.deepEqual(parse(call)['context'], { library: { name: 'x' }, app: 'own', ip: '::1' });
});

test('the service reads an encoded call, and objects of the caller are not modified', () => {
  const anyObject = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 });
  const anyTimestamp = fc.oneof(
    fc.date({ min: new Date(0), max: new Date('9999-01-01'), noInvalidDate: true }),
    fc.constantFrom('2014-02-03', '2014-02-03T04:05:06+0100', '2014-02-03 04:05', '2016-12-31T23:59:60Z'),
  );
  const anyMessage = fc.record(
    {
      userId: fc.string({ minLength: 1 }),
      event: fc.string({ minLength: 1 }),
      properties: anyObject,
      context: anyObject,
      integrations: anyObject as fc.Arbitrary<Record<string, boolean>>,
      timestamp: anyTimestamp,
      messageId: fc.string({ maxLength: 100 }),
    },
    { requiredKeys: ['userId', 'event'] },
  );
  fc.assert(
    fc.property(anyMessage, (message) => {
      const before = JSON.stringify(message);
      const call = encodeCall('track', message);
      assert.equal(JSON.stringify(message), before);
      const options = { receivedAt: Date.now(), fallbackMessageId: () => 'none' };
      const reading = readCall(JSON.parse(call.json) as unknown, options);
      assert.ok(reading.ok, call.json);
      const { event } = reading;
      assert.deepEqual([event.event, event.userId], [message.event, message.userId]);
      assert.notEqual(event.messageId, 'none');
    }),
  );
});

test('only calendar dates, with or without a time, are accepted as ISO 8601', () => {
  const good = [
    '2024-02-29',
    '2000-02-29',
    '0000-02-29',
    '2026-12-31T24:00',
    '2026-01-01T00Z',
    '2026-01-01t00:00z',
    '20140203T040506Z',
    '2014-02-03 04:05:06 +0000',
  ];
  const bad = [
    '2023-02-29',
    '1900-02-29',
    '2026-04-31',
    '2026-00-01',
    '2026-01-00',
    '2026-01-01T24:01',
    '2026-1-1',
  ];
  const offsets = ['2026-01-01T00:00+24:00', '2026-01-01T00:00+01:60', '2026-W01-1', ''];
  for (const text of good) assert.equal(isIso8601(text), true, text);
  for (const text of [...bad, ...offsets]) assert.equal(isIso8601(text), false, text);
});
