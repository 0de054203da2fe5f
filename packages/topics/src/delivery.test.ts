import assert from 'node:assert/strict';
import test from 'node:test';
import type { ConsumedRecord, OutgoingRecord } from '@tailrace/kafka';
import fc from 'fast-check';
import { decodeDelivery, deliveryKey, encodeDelivery, type Delivery } from './delivery.ts';

type Content = Pick<ConsumedRecord, 'key' | 'value' | 'headers'>;

/** As it comes back from Kafka. */
function consumed({ key, value, headers = {} }: OutgoingRecord): Content {
  const buffer = (text: string | Buffer): Buffer => Buffer.from(text as string);
  return {
    key: key === null ? null : buffer(key),
    value: value === null ? null : buffer(value),
    headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, buffer(text)])),
  };
}

const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 30 });
const time = fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true }).map(Number);
const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });

const delivery: fc.Arbitrary<Delivery> = fc.record({
  deliveryId: text,
  eventId: text,
  sourceId: text,
  destinationId: text,
  type: fc.constantFrom('track', 'identify', 'page', 'screen', 'group', 'alias', 'delete'),
  eventName: maybe(text),
  attempt: fc.nat(),
  step: fc.nat(),
  putOff: fc.nat(),
  placeAt: maybe(time),
  firstAttemptAt: maybe(time),
  dueAt: maybe(time),
  reason: maybe(text),
  sequence: maybe(fc.maxSafeNat()),
  closedUrls: fc.array(fc.stringMatching(/^[0-9a-f]{16}$/), { maxLength: 5 }),
  lastAnswer: maybe(fc.json()),
  traceparent: maybe(text),
  key: text,
  body: fc.uint8Array().map((bytes) => Buffer.from(bytes)),
});

test('a delivery comes back from its record as it was, its body byte for byte', () => {
  fc.assert(
    fc.property(delivery, (delivery) => {
      assert.deepEqual(decodeDelivery(consumed(encodeDelivery('deliveries', delivery))), { ...delivery });
    }),
  );
});

const example: Delivery = {
  deliveryId: 'd-1',
  eventId: 'e-1',
  sourceId: 'web',
  destinationId: 'crm',
  type: 'track',
  eventName: 'Käse Gekauft',
  attempt: 2,
  step: 3,
  putOff: 1,
  firstAttemptAt: Date.UTC(2026, 0, 2, 3, 4, 5, 6),
  dueAt: Date.UTC(2026, 0, 2, 3, 5, 0),
  sequence: 17,
  reason: 'status-5xx',
  closedUrls: ['aa', 'bb'],
  lastAnswer: undefined,
  traceparent: undefined,
  key: deliveryKey('crm', 'user-1'),
  body: Buffer.from('{"version":1}'),
};

test('the record has the documented headers and nothing for what is not there', () => {
  const record = encodeDelivery('tailrace.deliveries.retry.1m', example, 4);
  assert.deepEqual(record, {
    topic: 'tailrace.deliveries.retry.1m',
    partition: 4,
    key: 'crm/user-1',
    value: example.body,
    headers: {
      'delivery-id': 'd-1',
      'event-id': 'e-1',
      'source-id': 'web',
      'destination-id': 'crm',
      type: 'track',
      attempt: '2',
      'event-name': 'Käse Gekauft',
      step: '3',
      'put-off': '1',
      'first-attempt-at': '2026-01-02T03:04:05.006Z',
      'due-at': '2026-01-02T03:05:00.000Z',
      reason: 'status-5xx',
      sequence: '17',
      'closed-urls': 'aa,bb',
    },
  });
});

test('a record that somebody else wrote is answered with a sentence that names every problem', () => {
  const problem = decodeDelivery({ key: null, value: null, headers: {} });
  assert.equal(typeof problem, 'string');
  for (const name of ['delivery-id', 'event-id', 'source-id', 'destination-id', 'type']) {
    assert.match(problem as string, new RegExp(`header ${name} is missing`));
  }
  assert.match(problem as string, /the value is null/);
});

test('what says nothing has no header: as many steps as attempts, and never put off', () => {
  const { headers } = encodeDelivery('deliveries', { ...example, step: 2, putOff: 0 });
  assert.deepEqual(
    Object.keys(headers ?? {}).filter((name) => name === 'step' || name === 'put-off'),
    [],
  );
});

test('a malformed header is a problem, not a guess', () => {
  const wellFormed = consumed(encodeDelivery('deliveries', example));
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ['attempt', 'two', /header attempt is not a whole number/],
    ['attempt', '-1', /header attempt is not a whole number/],
    ['attempt', '1.5', /header attempt is not a whole number/],
    ['step', 'two', /header step is not a whole number/],
    ['sequence', '1e99', /header sequence is not a whole number/],
    ['put-off', '-1', /header put-off is not a whole number/],
    ['place-at', 'later', /header place-at is not an ISO 8601 time/],
    ['due-at', 'soon', /header due-at is not an ISO 8601 time/],
    ['first-attempt-at', '', /header first-attempt-at is not an ISO 8601 time/],
    ['delivery-id', '', /header delivery-id is missing/],
  ];
  for (const [name, value, sentence] of cases) {
    const headers = { ...wellFormed.headers, [name]: Buffer.from(value) };
    const decoded = decodeDelivery({ ...wellFormed, headers });
    assert.equal(typeof decoded, 'string', name);
    assert.match(decoded as string, sentence);
  }
});

test('any headers are decoded or refused, never thrown at', () => {
  const names = fc.constantFrom(
    'delivery-id',
    'attempt',
    'due-at',
    'first-attempt-at',
    'closed-urls',
    'type',
    'x',
  );
  const buffers = fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes));
  fc.assert(
    fc.property(fc.dictionary(names, buffers), fc.option(buffers), (headers, value) => {
      assert.ok(['string', 'object'].includes(typeof decodeDelivery({ key: value, value, headers })));
    }),
  );
});
