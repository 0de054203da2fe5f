import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { isConserved, judge, report, type Arrival, type Obligation } from './oracle.ts';

const owed = (eventId: string, destinationId = 'crm'): Obligation => ({
  eventId,
  destinationId,
  body: Buffer.from(`{"event":"${eventId}"}`),
});
const arrived = (how: Arrival['how'], obligation: Obligation): Arrival => ({ ...obligation, how });

test('an obligation is met by a delivery or by a dead letter', () => {
  const verdict = judge(
    [owed('a'), owed('b'), owed('b', 'warehouse')],
    [
      arrived('delivered', owed('a')),
      arrived('dead', owed('b')),
      arrived('delivered', owed('b', 'warehouse')),
    ],
  );
  assert.ok(isConserved(verdict));
  assert.equal(
    report(verdict),
    '3 obligations: 2 delivered, 1 in dead letters, 0 missing, 0 altered, 0 unexpected, 0 duplicates',
  );
});

test('an event that reached one destination is still missing at the other', () => {
  const verdict = judge([owed('a', 'crm'), owed('a', 'warehouse')], [arrived('delivered', owed('a', 'crm'))]);
  assert.deepEqual(verdict.missing, [owed('a', 'warehouse')]);
  assert.match(report(verdict), /missing: a at warehouse: \{"event":"a"\}/);
});

test('one changed byte is an alteration, and leaves the obligation unmet', () => {
  const changed = { ...arrived('delivered', owed('a')), body: Buffer.from('{"event": "a"}') };
  const verdict = judge([owed('a')], [changed]);
  assert.equal(verdict.altered.length, 1);
  assert.equal(verdict.missing.length, 1);
  assert.ok(!isConserved(verdict));
});

test('an event that was not sent is unexpected', () => {
  const verdict = judge([], [arrived('dead', owed('a'))]);
  assert.equal(verdict.unexpected.length, 1);
  assert.ok(!isConserved(verdict));
});

test('a second arrival is a duplicate, and no loss', () => {
  const verdict = judge([owed('a')], [arrived('delivered', owed('a')), arrived('dead', owed('a'))]);
  assert.ok(isConserved(verdict));
  assert.equal(verdict.duplicates.length, 1);
  assert.match(report(verdict), /repeated: a at crm, dead/);
});

test('every set of lost and repeated events is found in any order of arrival', () => {
  const fates = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 40 });
  fc.assert(
    fc.property(fates, fc.infiniteStream(fc.nat()), (times, order) => {
      const obligations = times.map((_, index) => owed(`e${index}`));
      const arrivals = obligations
        .flatMap((obligation, index) =>
          Array.from({ length: times[index] ?? 0 }, (_, nth) =>
            arrived(nth % 2 === 0 ? 'delivered' : 'dead', obligation),
          ),
        )
        .map((arrival) => ({ arrival, rank: order.next().value as number }))
        .sort((a, b) => a.rank - b.rank)
        .map(({ arrival }) => arrival);
      const verdict = judge(obligations, arrivals);
      assert.equal(verdict.missing.length, times.filter((count) => count === 0).length);
      assert.equal(verdict.delivered + verdict.dead + verdict.missing.length, obligations.length);
      assert.equal(
        verdict.duplicates.length,
        times.reduce((sum, count) => sum + Math.max(0, count - 1), 0),
      );
    }),
  );
});
