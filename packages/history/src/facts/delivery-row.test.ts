import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { deliveryStatuses, merge, type DeliveryRow, type DeliveryState } from './delivery-row.ts';

/** Few values, so that ties are frequent. */
const time = fc.integer({ min: 0, max: 3 });
/** Objects without a prototype would differ in deepEqual. */
const plain = { noNullPrototype: true };
const state = fc.record(
  {
    status: fc.constantFrom(...deliveryStatuses.filter((status) => status !== 'unknown')),
    changedAt: time,
    rank: time,
    reason: fc.constantFrom(null, 'timeout', 'server-error'),
    nextDueAt: fc.constantFrom(null, 7, 8),
  },
  plain,
);
const place = fc.record(
  { topic: fc.constantFrom('a', 'b'), partition: time, offset: time, placedAt: time },
  plain,
);

function row(more: Partial<DeliveryRow> = {}): DeliveryRow {
  return {
    id: 'd',
    eventId: 'e',
    sourceId: 'web',
    destinationId: 'crm',
    type: 'track',
    event: null,
    userKey: 'u',
    createdAt: 0,
    place: null,
    state: { status: 'waiting', changedAt: 0, rank: 0, reason: null, nextDueAt: null },
    ...more,
  };
}

const rows = fc.array(
  fc.record({ createdAt: time, state, place: fc.option(place) }).map((more) => row(more)),
  { minLength: 1, maxLength: 6 },
);

test('records of a delivery merge to the same row in any order', () => {
  fc.assert(
    fc.property(
      rows.chain((given) =>
        fc.tuple(fc.constant(given), fc.shuffledSubarray(given, { minLength: given.length })),
      ),
      ([given, shuffled]) => {
        assert.deepEqual(shuffled.reduce(merge), given.reduce(merge));
      },
    ),
  );
});

const at = (status: DeliveryState['status'], changedAt: number): DeliveryRow =>
  row({ state: { status, changedAt, rank: 0, reason: null, nextDueAt: null } });

test('the latest state wins, except that a delivered delivery stays delivered', () => {
  assert.equal(merge(at('waiting', 1), at('retrying', 2)).state.status, 'retrying');
  assert.equal(merge(at('dead', 3), at('waiting', 4)).state.status, 'waiting');
  assert.equal(merge(at('delivered', 2), at('retrying', 5)).state.status, 'delivered');
  assert.equal(merge(at('unknown', 4), at('dead', 3)).state.status, 'dead');
  assert.equal(merge(at('unknown', 4), at('waiting', 0)).state.status, 'unknown');
});
