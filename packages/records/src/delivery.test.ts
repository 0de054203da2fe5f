import assert from 'node:assert/strict';
import test from 'node:test';
import { readBack, type ConsumedRecord, type OutgoingRecord, type RecordHeader } from '@tailrace/kafka';
import fc from 'fast-check';
import {
  decodeDelivery,
  deliveryKey,
  encodeDelivery,
  progressHeaders,
  replayedByHeader,
  replayIdHeader,
  replayedFromHeader,
  type Delivery,
} from './delivery.ts';

type Content = Pick<ConsumedRecord, 'key' | 'value' | 'headers' | 'headerList'>;

/** The record as a consumer receives it. */
function consumed({ key, value, headers }: OutgoingRecord): Content {
  const buffer = (text: string | Buffer): Buffer => Buffer.from(text as string);
  return {
    key: key === null ? null : buffer(key),
    value: value === null ? null : buffer(value),
    ...readBack(headers),
  };
}

const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 30 });
const time = fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true }).map(Number);
const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });

const unknownName = fc.oneof(
  fc.constantFrom('', '__proto__', 'constructor', 'toString', 'Delivery-Id', 'attempt2'),
  text.map((name) => `x-${name}`),
);
const unknownValue = fc.option(fc.uint8Array().map((bytes): Buffer => Buffer.from(bytes)));
const unknownHeaders = fc.array(
  fc.tuple(unknownName, unknownValue).map((header): RecordHeader => header),
  { minLength: 1 },
);

const delivery: fc.Arbitrary<Delivery> = fc.record({
  deliveryId: text,
  eventId: text,
  sourceId: text,
  destinationId: text,
  type: fc.constantFrom('track', 'identify', 'page', 'screen', 'group', 'alias', 'delete'),
  eventName: maybe(text),
  eventPosition: maybe(text),
  contentType: maybe(fc.constant('form')),
  transformVersion: maybe(fc.nat()),
  transformFailure: maybe(text),
  onlyUrl: maybe(fc.nat(4)),
  requestHeaders: maybe(fc.constantFrom({}, { 'X-A': 'b', 'X-C': '' })),
  acceptedAt: maybe(time),
  eventAcceptedAt: maybe(time),
  attempt: fc.nat(),
  step: fc.nat(),
  deferrals: fc.nat(),
  placeAt: maybe(time),
  firstAttemptAt: maybe(time),
  dueAt: maybe(time),
  reason: maybe(text),
  sequence: maybe(fc.maxSafeNat()),
  heldBy: maybe(fc.constantFrom('breaker', 'rate', 'order', 'lane')),
  closedUrls: fc.array(fc.stringMatching(/^[0-9a-f]{16}$/), { maxLength: 5 }),
  lastAnswer: maybe(fc.json()),
  exchanges: maybe(fc.json()),
  traceparent: maybe(text),
  firstAttemptSpan: maybe(text),
  replayedFrom: maybe(text),
  otherHeaders: maybe(unknownHeaders),
  key: text,
  body: fc.uint8Array().map((bytes) => Buffer.from(bytes)),
});

test('a delivery is decoded from its record unchanged, its body byte for byte', () => {
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
  eventPosition: '3/41',
  acceptedAt: Date.UTC(2026, 0, 2, 3, 4, 4),
  eventAcceptedAt: undefined,
  attempt: 2,
  step: 3,
  deferrals: 1,
  firstAttemptAt: Date.UTC(2026, 0, 2, 3, 4, 5, 6),
  dueAt: Date.UTC(2026, 0, 2, 3, 5, 0),
  sequence: 17,
  heldBy: undefined,
  reason: 'status-5xx',
  closedUrls: ['aa', 'bb'],
  lastAnswer: undefined,
  exchanges: undefined,
  traceparent: undefined,
  firstAttemptSpan: undefined,
  replayedFrom: undefined,
  key: deliveryKey('crm', 'user-1'),
  body: Buffer.from('{"version":1}'),
};

test('the record has the documented headers, and none for absent fields', () => {
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
      'event-position': '3/41',
      'accepted-at': '2026-01-02T03:04:04.000Z',
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

test('a record that is not a delivery is refused with a message that names every problem', () => {
  const problem = decodeDelivery({ key: null, value: null, ...readBack() });
  assert.equal(typeof problem, 'string');
  for (const name of ['delivery-id', 'event-id', 'source-id', 'destination-id', 'type']) {
    assert.match(problem as string, new RegExp(`header ${name} is missing`));
  }
  assert.match(problem as string, /the value is null/);
});

test('unknown headers are passed on unchanged: in their order, with repetitions and null values', () => {
  const others = [
    ['x-new', Buffer.from([0xff])],
    ['__proto__', Buffer.from('p')],
    ['x-new', null],
    ['x-new', Buffer.alloc(0)],
  ] as const;
  const { headers = {} } = encodeDelivery('deliveries', example);
  const entries = Object.entries(headers) as [string, string][];
  const mixed = [...entries.slice(0, 3), ...others.slice(0, 2), ...entries.slice(3), ...others.slice(2)];
  const decoded = decodeDelivery(consumed({ topic: 't', key: '', value: '', headers: mixed }));
  if (typeof decoded === 'string') assert.fail(decoded);
  assert.deepEqual(decoded.otherHeaders, others);
  assert.deepEqual(encodeDelivery('tier', { ...decoded, attempt: 1 }).headers, [
    ...entries.map(([name, value]) => [name, name === 'attempt' ? '1' : value]),
    ...others,
  ]);
});

test('the last value of a repeated known header that is not null counts, and is written once', () => {
  const { headers } = encodeDelivery('deliveries', example);
  const repeated = [
    ['type', 'page'],
    ...(Object.entries(headers ?? {}) as [string, string][]),
    ['type', null],
    ['event-name', 'Renamed'],
    [replayedFromHeader, '0/1'],
  ] as const;
  const decoded = decodeDelivery(consumed({ topic: 't', key: '', value: '', headers: repeated }));
  if (typeof decoded === 'string') assert.fail(decoded);
  assert.deepEqual([decoded.type, decoded.eventName, decoded.otherHeaders], ['track', 'Renamed', undefined]);
  assert.ok(!Array.isArray(encodeDelivery('tier', decoded).headers));
});

test('every header that is written is known, as one of identity or of progress', () => {
  const all: Delivery = {
    ...example,
    placeAt: 0,
    heldBy: 'lane',
    lastAnswer: '[]',
    exchanges: '[]',
    traceparent: '00-1-2-01',
    firstAttemptSpan: '1',
    replayedFrom: '0/1',
  };
  const { headers } = encodeDelivery('deliveries', all);
  const names = Object.keys(headers ?? {});
  assert.deepEqual(
    names.filter((name) => !progressHeaders.has(name)),
    [
      'delivery-id',
      'event-id',
      'source-id',
      'destination-id',
      'type',
      'event-name',
      'event-position',
      'traceparent',
    ],
  );
  assert.deepEqual(
    [...progressHeaders].filter((name) => !names.includes(name)),
    [replayedByHeader, replayIdHeader],
    'which only a replay writes',
  );
});

test('step has no header where it equals attempt, and put-off none where it is 0', () => {
  const { headers } = encodeDelivery('deliveries', { ...example, step: 2, deferrals: 0 });
  assert.deepEqual(
    Object.keys(headers ?? {}).filter((name) => name === 'step' || name === 'put-off'),
    [],
  );
});

test('what a transform has not made has no step that a release without transforms reads, so that it sends nothing', () => {
  const { headers } = consumed(
    encodeDelivery('deliveries', { ...example, transformFailure: 'TypeError: no' }),
  );
  assert.ok(Number.isNaN(Number(headers['step'])));
});

test('a malformed header makes the record invalid', () => {
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
    const headers = [...wellFormed.headerList, [name, value] as const];
    const decoded = decodeDelivery({ ...wellFormed, ...readBack(headers) });
    assert.equal(typeof decoded, 'string', name);
    assert.match(decoded as string, sentence);
  }
});

test('an unreadable accepted-at counts as absent', () => {
  const { headerList, ...content } = consumed(encodeDelivery('deliveries', example));
  const headers = [...headerList, ['accepted-at', 'lately'] as const];
  const decoded = decodeDelivery({ ...content, ...readBack(headers) });
  assert.deepEqual(decoded, {
    ...example,
    contentType: undefined,
    transformVersion: undefined,
    transformFailure: undefined,
    onlyUrl: undefined,
    requestHeaders: undefined,
    acceptedAt: undefined,
    placeAt: undefined,
    otherHeaders: undefined,
  });
});

test('any headers are decoded or refused, without an exception', () => {
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
      assert.ok(
        ['string', 'object'].includes(typeof decodeDelivery({ key: value, value, ...readBack(headers) })),
      );
    }),
  );
});
