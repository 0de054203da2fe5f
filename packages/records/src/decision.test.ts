import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decisionLimits, decodeDecision, encodeDecision, type FilteredDestinations } from './decision.ts';

const base = { eventId: 'm-1', sourceId: 'web', type: 'track', decidedAt: 1_800_000_000_000, routed: 0 };

const idsFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `destination-${first + index}`.padEnd(64, '0') }));

function written(filtered: readonly FilteredDestinations[]) {
  const { key, value } = encodeDecision('decisions', 'ada', { ...base, filtered });
  assert.equal(key, 'ada');
  const bytes = Buffer.from(value ?? '');
  const decision = decodeDecision({ value: bytes });
  assert.ok(decision);
  return { bytes, decision };
}

test('a decision is read as it was written', () => {
  const rule = { path: 'types', text: 'types track' };
  const filtered = [
    { reason: 'disabled', destinations: [{ id: 'crm' }] },
    { reason: 'filter', rule, destinations: [{ id: 'erp' }] },
  ];
  assert.deepEqual(written(filtered).decision, {
    ...base,
    filtered: [
      { reason: 'disabled', count: 1, destinations: ['crm'] },
      { reason: 'filter', rule, count: 1, destinations: ['erp'] },
    ],
  });
  assert.deepEqual(written([]).decision, { ...base, filtered: [] });
});

test('the name of a track event is in the record, bounded to 200 characters', () => {
  const of = (event: string) =>
    decodeDecision({
      value: Buffer.from(encodeDecision('decisions', 'ada', { ...base, event, filtered: [] }).value ?? ''),
    })?.event;
  assert.equal(of('Signed Up'), 'Signed Up');
  const long = of('x'.repeat(30_000)) ?? '';
  assert.equal(long.length, 200);
  assert.ok(long.startsWith('x'.repeat(180)));
  assert.notEqual(long, of('x'.repeat(30_001)));
});

test('filters with the same rule are one group', () => {
  const rule = (): FilteredDestinations['rule'] => ({ path: 'types', text: 'types track' });
  const filtered = idsFrom(0, 30).map((one) => ({ reason: 'filter', rule: rule(), destinations: [one] }));
  const { decision } = written(filtered);
  assert.deepEqual(
    decision.filtered.map(({ reason, rule, count }) => [reason, rule?.path, count]),
    [['filter', 'types', 30]],
  );
});

test('a record is bounded, however many destinations and rules there are, and counts all of them', () => {
  const groups = fc.array(
    fc.record({
      reason: fc.constantFrom('disabled', 'integrations', 'filter'),
      text: fc.string({ maxLength: 5_000 }),
      count: fc.integer({ min: 1, max: 1_500 }),
    }),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(groups, (given) => {
      const filtered = given.map(({ reason, text, count }) => ({
        reason,
        destinations: idsFrom(0, count),
        ...(reason === 'filter' && { rule: { path: text, text } }),
      }));
      const { bytes, decision } = written(filtered);
      assert.ok(bytes.length < 128 * 1024, String(bytes.length));
      assert.ok(decision.filtered.length <= decisionLimits.groups);
      const listed = decision.filtered.flatMap(({ destinations }) => destinations);
      assert.ok(listed.length <= decisionLimits.destinations);
      const total = (items: readonly { readonly count: number }[]): number =>
        items.reduce((sum, { count }) => sum + count, 0);
      assert.equal(total(decision.filtered), total(given));
    }),
    { numRuns: 60 },
  );
});

test('a record of another program is not a decision', () => {
  const valid = { ...base, decidedAt: '2026-11-22T12:00:00.000Z', filtered: [] };
  assert.ok(decodeDecision({ value: Buffer.from(JSON.stringify(valid)) }));
  const group = { reason: 'disabled', count: 1, destinations: ['crm'] };
  const others: unknown[] = [
    null,
    1,
    'text',
    [],
    {},
    { ...valid, eventId: 7 },
    { ...valid, decidedAt: 'today' },
    { ...valid, routed: -1 },
    { ...valid, routed: 1.5 },
    { ...valid, filtered: {} },
    ...[
      null,
      {},
      { ...group, count: '1' },
      { ...group, destinations: [1] },
      { ...group, destinations: 'crm' },
    ].map((one) => ({ ...valid, filtered: [one] })),
    { ...valid, filtered: Array.from({ length: 21 }, () => group) },
    { ...valid, filtered: [{ ...group, destinations: Array.from({ length: 101 }, () => 'crm') }] },
  ];
  for (const other of others) {
    assert.equal(
      decodeDecision({ value: Buffer.from(JSON.stringify(other)) }),
      undefined,
      JSON.stringify(other),
    );
  }
  assert.equal(decodeDecision({ value: null }), undefined);
  assert.equal(decodeDecision({ value: Buffer.from('{') }), undefined);
});

test('keys of a later release are ignored', () => {
  const later = { ...base, decidedAt: '2026-11-22T12:00:00.000Z', filtered: [], more: { a: 1 } };
  const decision = decodeDecision({ value: Buffer.from(JSON.stringify(later)) });
  assert.deepEqual(Object.keys(decision ?? {}), [
    'eventId',
    'sourceId',
    'type',
    'decidedAt',
    'routed',
    'filtered',
  ]);
});
