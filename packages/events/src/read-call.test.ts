import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readBatch, readCall, type ReadOptions } from './read-call.ts';
import type { TailraceEvent } from './schema.ts';

const receivedAt = Date.parse('2026-11-21T12:00:00.000Z');
const options: ReadOptions = { receivedAt, fallbackMessageId: () => 'made-up' };
const track = { type: 'track', userId: 'u-1', event: 'Order Completed', messageId: 'm-1' };

function read(input: unknown, more: Partial<ReadOptions> = {}): TailraceEvent {
  const result = readCall(input, { ...options, ...more });
  assert.ok(result.ok, result.ok ? '' : result.message);
  return result.event;
}

function refusal(input: unknown, more: Partial<ReadOptions> = {}): string {
  const result = readCall(input, { ...options, ...more });
  assert.ok(!result.ok, 'it should be refused');
  assert.equal(result.code, 'invalid-call');
  return result.message;
}

describe('missing fields', () => {
  test('1.5 null, the empty string and a missing field are equivalent', () => {
    const sparse = {
      ...track,
      anonymousId: null,
      groupId: '',
      category: null,
      context: null,
      timestamp: null,
    };
    assert.deepEqual(read(sparse), read(track));
  });

  test('a call without a messageId gets one', () => {
    for (const messageId of [undefined, null, '']) {
      assert.equal(read({ ...track, messageId }).messageId, 'made-up');
    }
  });

  test('the type in the path takes precedence over that of the call', () => {
    assert.equal(read({ ...track, type: undefined }, { type: 'track' }).type, 'track');
    assert.equal(read({ ...track, type: 'page' }, { type: 'track' }).type, 'track');
  });

  test('1.6 identify without traits takes them from the context', () => {
    const call = { type: 'identify', userId: 'u-1', context: { traits: { plan: 'pro' }, ip: '10.0.0.1' } };
    const event = read(call);
    assert.deepEqual(event.traits, { plan: 'pro' });
    assert.deepEqual(event.context, call.context);
    assert.deepEqual(read({ ...call, traits: { plan: 'free' } }).traits, { plan: 'free' });
  });

  test('1.6 other types do not take traits from the context', () => {
    const context = { traits: { plan: 'pro' } };
    assert.equal(read({ type: 'group', userId: 'u-1', groupId: 'g-1', context }).traits, undefined);
  });
});

describe('conversions', () => {
  test('1.5 a whole number for an id becomes its digits', () => {
    assert.equal(read({ ...track, userId: 42 }).userId, '42');
    assert.equal(read({ ...track, messageId: 7 }).messageId, '7');
  });

  test('a number that is not written in digits is refused as an id, because two users could get the same id', () => {
    assert.match(
      refusal({ ...track, userId: 1e300 }),
      /^userId must be a string; a number is accepted only where it is whole/,
    );
    assert.match(refusal({ ...track, userId: 1.5 }), /^userId must be a string/);
  });

  test('1.5 an empty array counts as an empty object, because PHP writes it', () => {
    assert.deepEqual(read({ ...track, properties: [] }).properties, {});
  });

  test('1.7 unknown keys are dropped', () => {
    const event = read({ ...track, writeKey: 'wk', _metadata: { nodeVersion: '24' }, sequence: 1 });
    assert.deepEqual(event, read(track));
  });

  test('channel and version are kept where they are usable, and dropped otherwise', () => {
    const event = read({ ...track, channel: 'server', version: '1.1' });
    assert.deepEqual([event.channel, event.version], ['server', '1.1']);
    const odd = read({ ...track, channel: {}, version: [] });
    assert.deepEqual(odd, read(track));
  });

  test('1.4 1.7 a call of any type keeps every field that some type defines', () => {
    const fields = {
      messageId: 'm-1',
      userId: 'u-1',
      anonymousId: 'a-1',
      groupId: 'g-1',
      previousId: 'p-1',
      event: 'e',
      name: 'n',
      category: 'c',
      properties: { a: 1 },
      traits: { b: 2 },
      context: { c: 3 },
      integrations: { All: true },
    };
    const sent = '2026-11-21T12:00:00.000Z';
    const times = { timestamp: sent, originalTimestamp: sent, sentAt: sent, receivedAt: sent };
    for (const type of ['track', 'identify', 'page', 'screen', 'group', 'alias']) {
      const event = read({ type, ...fields, timestamp: sent, originalTimestamp: sent, sentAt: sent });
      assert.deepEqual(event, { type, ...fields, ...times });
    }
  });

  test('the event contains the objects of the call, without copies', () => {
    const properties = { total: 1 };
    assert.equal(read({ ...track, properties }).properties, properties);
  });
});

describe('required fields', () => {
  const rules: [name: string, call: object, message: RegExp][] = [
    ['a type', { userId: 'u-1' }, /^type must be one of track, identify/],
    ['a known type', { type: 'Track', userId: 'u-1', event: 'e' }, /^type must be one of track, identify/],
    ['a user, for track', { type: 'track', event: 'e' }, /^userId or anonymousId is required: a track call/],
    ['a user, for identify', { type: 'identify', userId: '' }, /^userId or anonymousId is required/],
    ['a user, for page', { type: 'page' }, /^userId or anonymousId is required/],
    ['a user, for screen', { type: 'screen' }, /^userId or anonymousId is required/],
    ['a user, for group', { type: 'group', groupId: 'g' }, /^userId or anonymousId is required/],
    ['a user, for alias', { type: 'alias', previousId: 'p' }, /^userId or anonymousId is required/],
    ['an event, for track', { type: 'track', userId: 'u-1', event: '' }, /^event is required: a track call/],
    ['a groupId, for group', { type: 'group', userId: 'u-1' }, /^groupId is required: a group call/],
    ['a previousId, for alias', { type: 'alias', userId: 'u-1' }, /^previousId is required: an? alias call/],
  ];
  for (const [name, call, message] of rules) {
    test(name, () => {
      assert.match(refusal(call), message);
    });
  }

  test('1.2 an anonymousId is sufficient as user for every tracking call', () => {
    const calls = [
      { type: 'track', event: 'e' },
      { type: 'identify' },
      { type: 'page' },
      { type: 'screen' },
      { type: 'group', groupId: 'g' },
      { type: 'alias', previousId: 'p' },
    ];
    for (const call of calls) assert.equal(read({ ...call, anonymousId: 'a-1' }).anonymousId, 'a-1');
  });

  test('a call must be an object', () => {
    for (const input of [undefined, null, 1, 'track', true, []]) {
      assert.equal(refusal(input), 'A call must be a JSON object.');
    }
  });

  test('1.1 1.2 delete is accepted from the events topic only, and requires a userId', () => {
    const call = { type: 'delete', userId: 'u-1' };
    assert.match(refusal(call), /^type must not be delete/);
    assert.equal(read(call, { enriched: true }).type, 'delete');
    assert.match(refusal({ type: 'delete', anonymousId: 'a-1' }, { enriched: true }), /^userId is required/);
  });

  test('one message names all problems and quotes no content', () => {
    const message = refusal({ ...track, event: ['secret'], properties: 'secret', timestamp: 'secret' });
    assert.match(
      message,
      /timestamp must be .*event must be a string, not an array.*properties must be an object/,
    );
    assert.doesNotMatch(message, /secret/);
  });
});

describe('limits', () => {
  test('2.5 a messageId has at most 100 characters, independent of UTF-16 code units', () => {
    assert.equal(read({ ...track, messageId: 'm'.repeat(100) }).messageId.length, 100);
    assert.equal(read({ ...track, messageId: '𝄞'.repeat(100) }).messageId.length, 200);
    assert.match(refusal({ ...track, messageId: 'm'.repeat(101) }), /^messageId must not be longer than 100/);
  });

  test('2.7 objects have at most 100 levels, so that they can be written as JSON', () => {
    const nested = (levels: number): unknown => JSON.parse('{"a":'.repeat(levels) + '1' + '}'.repeat(levels));
    const list: unknown = JSON.parse('['.repeat(6000) + ']'.repeat(6000));
    assert.ok(read({ ...track, properties: nested(100) }));
    assert.match(
      refusal({ ...track, properties: nested(101) }),
      /^properties is nested more than 100 levels/,
    );
    assert.match(refusal({ ...track, context: nested(6000) }), /^context is nested/);
    assert.match(refusal({ ...track, traits: { list } }), /^traits/);
  });
});

describe('times', () => {
  const times = (event: TailraceEvent): unknown[] => [
    event.timestamp,
    event.originalTimestamp,
    event.sentAt,
    event.receivedAt,
  ];
  const noon = '2026-11-21T12:00:00.000Z';

  test('4.3 a call without a time gets the time of receipt', () => {
    assert.deepEqual(times(read(track)), [noon, undefined, undefined, noon]);
  });

  test('4.3 a timestamp without sentAt is used unchanged', () => {
    const event = read({ ...track, timestamp: '2024-05-01T10:00:00+0200' });
    assert.deepEqual(times(event), ['2024-05-01T08:00:00.000Z', '2024-05-01T08:00:00.000Z', undefined, noon]);
  });

  test('4.2 a clock that is an hour fast is corrected by receivedAt − (sentAt − timestamp)', () => {
    const event = read({ ...track, timestamp: '2026-11-21T12:59:50Z', sentAt: '2026-11-21T13:00:00Z' });
    assert.deepEqual(times(event), [
      '2026-11-21T11:59:50.000Z',
      '2026-11-21T12:59:50.000Z',
      '2026-11-21T13:00:00.000Z',
      noon,
    ]);
  });

  test('4.5 a historical timestamp keeps its distance from sentAt', () => {
    const event = read({ ...track, timestamp: '2019-01-01T00:00:00Z', sentAt: '2026-11-21T11:59:59.900Z' });
    assert.equal(event.timestamp, '2019-01-01T00:00:00.100Z');
  });

  test('4.2 originalTimestamp can replace timestamp, and takes precedence over it', () => {
    const sentAt = noon;
    const original = { ...track, originalTimestamp: '2026-11-21T11:00:00Z', sentAt };
    assert.equal(read(original).timestamp, '2026-11-21T11:00:00.000Z');
    assert.deepEqual(read({ ...original, timestamp: '2026-11-21T09:00:00Z' }), read(original));
  });

  test("the batch's sentAt takes precedence over the call's own, which may have been set before the call was queued", () => {
    const call = { ...track, timestamp: '2026-11-21T08:00:00Z', sentAt: '2026-11-21T08:00:00Z' };
    const event = read(call, { sentAt: Date.parse('2026-11-21T12:00:00Z') });
    assert.equal(event.timestamp, '2026-11-21T08:00:00.000Z');
  });

  test('4.3 null as the sentAt of a call keeps its time unchanged, also in a batch that has one', () => {
    const call = { ...track, timestamp: '2019-01-01T00:00:00.007Z', sentAt: null };
    const event = read(call, { sentAt: Date.parse('2026-11-21T13:00:00Z') });
    assert.deepEqual(times(event), ['2019-01-01T00:00:00.007Z', '2019-01-01T00:00:00.007Z', undefined, noon]);
  });

  test('4.4 an unreadable sentAt counts as absent', () => {
    const event = read({ ...track, timestamp: '2026-11-21T08:00:00Z', sentAt: 'just now' });
    assert.deepEqual(times(event), ['2026-11-21T08:00:00.000Z', '2026-11-21T08:00:00.000Z', undefined, noon]);
  });

  test('4.4 an unreadable timestamp is refused, because a wrong time could not be corrected later', () => {
    for (const timestamp of ['tomorrow', '2026-02-30', 1_763_710_173, true, {}]) {
      assert.match(refusal({ ...track, timestamp }), /^timestamp must be an ISO 8601 date-time/);
      const original = { ...track, timestamp: noon, originalTimestamp: timestamp };
      assert.match(refusal(original), /^originalTimestamp must be an ISO 8601 date-time/);
    }
  });

  test('a number counts as milliseconds since 1970', () => {
    assert.equal(read({ ...track, timestamp: 1_763_710_173_479 }).timestamp, '2025-11-21T07:29:33.479Z');
  });

  test('a timestamp is not corrected where the clocks differ by millennia', () => {
    const event = read({ ...track, timestamp: '9999-01-01', sentAt: '0001-01-01' });
    assert.equal(event.timestamp, '9999-01-01T00:00:00.000Z');
  });

  test('receivedAt is trusted in the events topic only', () => {
    const call = { ...track, receivedAt: '2026-11-20T00:00:00Z' };
    assert.equal(read(call).receivedAt, noon);
    assert.equal(read(call, { enriched: true }).receivedAt, '2026-11-20T00:00:00.000Z');
  });

  test('a call of a direct producer gets the missing times', () => {
    const call = { ...track, timestamp: '2026-11-21T12:59:50Z', sentAt: '2026-11-21T13:00:00Z' };
    assert.deepEqual(read(call, { enriched: true }), read(call));
  });
});

describe('batches', () => {
  test("14.5 the batch's context and integrations are merged under those of the call", () => {
    const batch = readBatch({
      sentAt: '2026-11-21T12:00:00Z',
      context: { library: { name: 'go' }, ip: '10.0.0.1' },
      integrations: { All: false },
    });
    assert.ok(batch.ok);
    const event = read(
      { ...track, context: { ip: '10.0.0.2' }, integrations: { Webhooks: true } },
      batch.fields,
    );
    assert.deepEqual(event.context, { library: { name: 'go' }, ip: '10.0.0.2' });
    assert.deepEqual(event.integrations, { All: false, Webhooks: true });
    assert.equal(event.sentAt, '2026-11-21T12:00:00.000Z');
  });

  test('a batch whose context is not an object is refused as a whole', () => {
    const batch = readBatch({ context: 'go', batch: [] });
    assert.ok(!batch.ok);
    assert.match(batch.message, /^context must be an object/);
  });
});

describe('keys that name the prototype', () => {
  const parse = (text: string): unknown => JSON.parse(text);

  test('add no fields to the call', () => {
    const call = parse(
      '{"type":"track","event":"e","__proto__":{"userId":"u-1"},"constructor":{"userId":"u-1"}}',
    );
    assert.match(refusal(call), /^userId or anonymousId is required/);
  });

  test('stay keys when objects are merged, and change no prototype', () => {
    const own = parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}');
    const batch = readBatch({ context: parse('{"__proto__":{"polluted":true}}'), integrations: own });
    assert.ok(batch.ok);
    const event = read({ ...track, context: own, integrations: own }, batch.fields);
    assert.deepEqual(Object.keys(event.context ?? {}), ['__proto__', 'constructor']);
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
    assert.equal((event.context as Record<string, unknown>)['polluted'], undefined);
  });
});
