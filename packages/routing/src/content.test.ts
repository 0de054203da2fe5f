import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJson, readCall, type TailraceEvent } from '@tailrace/events';
import { objectText } from '@tailrace/testing/json-text';
import fc from 'fast-check';
import { contentHashOf, storedContentHash } from './content.ts';

function eventOf(call: object, receivedAt = Date.UTC(2026, 0, 5)): TailraceEvent {
  const reading = readCall(call, { receivedAt, fallbackMessageId: () => 'made-up' });
  assert.ok(reading.ok, JSON.stringify(reading));
  return reading.event;
}

/** The JSON that ingest writes. */
const stored = (event: TailraceEvent): string => JSON.stringify(event);

const call = {
  type: 'track',
  messageId: 'm-1',
  userId: 'ada',
  event: 'Order Completed',
  timestamp: '2026-01-04T12:00:00Z',
  sentAt: '2026-01-04T12:00:01Z',
  properties: { total: 25.5, ip: '203.0.113.7' },
  context: { app: { name: 'shop' }, ip: '203.0.113.7' },
};
const hash = contentHashOf(undefined, eventOf(call));

const sameCalls: readonly [title: string, call: object][] = [
  ['is sent at another time', { ...call, sentAt: '2026-01-04T12:30:00Z' }],
  ['is made at another time', { ...call, timestamp: '2026-01-04T12:30:00Z' }],
  ['has other times', { ...call, timestamp: null, sentAt: null, originalTimestamp: '2026-01-04' }],
  ['is sent from another address', { ...call, context: { ...call.context, ip: '198.51.100.1' } }],
  ['has its address first', { ...call, context: { ip: '198.51.100.1', app: call.context.app } }],
  ['has no address', { ...call, context: { app: { name: 'shop' } } }],
  ['has an address that is no text', { ...call, context: { ...call.context, ip: { v4: [1, 'a,}'] } } }],
  ['has the number of its tries', { ...call, _metadata: { retryCount: 3 }, writeKey: 'wk' }],
  ['has its fields in another order', Object.fromEntries(Object.entries(call).reverse())],
  ['has nulls for absent fields', { ...call, anonymousId: null, category: '' }],
];
for (const [title, same] of sameCalls) {
  test(`3.2 a call has the same content where it ${title}`, () => {
    const event = eventOf(same, Date.UTC(2026, 0, 6));
    assert.equal(storedContentHash(stored(event)), hash);
    assert.equal(contentHashOf(JSON.stringify(same), event), hash);
  });
}

test('a call without context has the same content where ingest adds the address', () => {
  const { context: _, ...bare } = call;
  const [without, withAddress] = [bare, { ...bare, context: { ip: '203.0.113.7' } }].map((one) =>
    stored(eventOf(one)),
  );
  assert.equal(storedContentHash(without ?? ''), storedContentHash(withAddress ?? ''));
});

const otherCalls: readonly [title: string, call: object][] = [
  ['type', { ...call, type: 'page' }],
  ['userId', { ...call, userId: 'bob' }],
  ['anonymousId', { ...call, anonymousId: 'a-1' }],
  ['groupId', { ...call, groupId: 'g-1' }],
  ['previousId', { ...call, previousId: 'a-1' }],
  ['event', { ...call, event: 'Order Refunded' }],
  ['name', { ...call, name: 'Home' }],
  ['category', { ...call, category: 'Help' }],
  ['properties', { ...call, properties: { ...call.properties, total: 25 } }],
  ['ip in its properties', { ...call, properties: { ...call.properties, ip: '198.51.100.1' } }],
  ['traits', { ...call, traits: { plan: 'pro' } }],
  ['context', { ...call, context: { ...call.context, app: { name: 'other' } } }],
  // With these it would go to no destination.
  ['integrations', { ...call, integrations: { All: false } }],
];
for (const [title, other] of otherCalls) {
  test(`3.2 a call has other content where it has another ${title}`, () => {
    const event = eventOf(other);
    assert.notEqual(storedContentHash(stored(event)), hash);
    assert.notEqual(contentHashOf(undefined, event), hash);
  });
}

const otherAddresses: readonly [place: string, callFrom: (ip: string) => object][] = [
  [
    'an object called context in its properties',
    (ip) => ({ ...call, properties: { total: 1, context: { ip } } }),
  ],
  ['an object in its context', (ip) => ({ ...call, context: { ip: '203.0.113.7', network: { ip } } })],
  ['its integrations', (ip) => ({ ...call, integrations: { Shop: { ip } } })],
];
for (const [place, callFrom] of otherAddresses) {
  test(`3.2 a call has other content where it has another ip in ${place}`, () => {
    const [one, other] = [eventOf(callFrom('203.0.113.7')), eventOf(callFrom('198.51.100.1'))];
    assert.notEqual(storedContentHash(stored(one)), storedContentHash(stored(other)));
    assert.notEqual(contentHashOf(undefined, one), contentHashOf(undefined, other));
  });
}

test('any event has the same content as ingest stores it and as it is read', () => {
  const instant = fc.constantFrom('2026-01-04', '2026-01-04T12:00:00.5+0100', null);
  const ip = fc.option(fc.oneof(fc.string(), fc.constant({ v4: 1 })), { nil: undefined });
  const object = fc
    .tuple(objectText, ip, fc.boolean())
    .map(([json, ip, isFirst]) =>
      isFirst ? { ip, ...(parseJson(json) as object) } : { ...(parseJson(json) as object), ip },
    );
  const calls = fc.record(
    {
      type: fc.constantFrom('track', 'page', 'identify'),
      event: fc.constant('e'),
      userId: fc.constant('u'),
      messageId: fc.string({ minLength: 1, maxLength: 100 }),
      timestamp: instant,
      sentAt: instant,
      originalTimestamp: instant,
      properties: object,
      traits: object,
      context: object,
      integrations: object,
    },
    { requiredKeys: ['type', 'event', 'userId', 'messageId'] },
  );
  fc.assert(
    fc.property(calls, (call) => {
      const json = stored(eventOf(call));
      const hash = storedContentHash(json);
      assert.ok(hash !== undefined);
      assert.equal(contentHashOf(json, eventOf(parseJson(json) as object)), hash);
      assert.equal(contentHashOf(undefined, eventOf(parseJson(json) as object)), hash);
    }),
  );
});

// Expected: the SHA-1 that Python computes.
test('the hash is the same in every router, so delivery ids are too', () => {
  assert.equal(hash, 'sogW3Y8MnnFVt63Swa4WT6ONx40');
});
