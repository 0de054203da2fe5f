import assert from 'node:assert/strict';
import test from 'node:test';
import { replayedFromHeader } from '@tailrace/topics';
import fc from 'fast-check';
import { formatPlace, Ledger, parsePlace, type Place } from './ledger.ts';

const partition = fc.nat({ max: 3 });
const offset = fc.oneof(
  fc.nat({ max: 3_000 }),
  fc.maxSafeNat().map((n) => n % 10 ** 15),
);
const place = fc.record({ partition, offset }, { noNullPrototype: true });

function idOf(where: Place): Buffer {
  return Buffer.from(`delivery of ${formatPlace(where)}`);
}

function replayOf(where: Place, deliveryId = idOf(where)) {
  return {
    headers: { 'delivery-id': deliveryId, [replayedFromHeader]: Buffer.from(formatPlace(where)) },
  };
}

test('exactly the dead letters that were replayed are in the ledger', () => {
  fc.assert(
    fc.property(fc.array(place), fc.array(place), (replayed, others) => {
      const ledger = new Ledger();
      for (const where of replayed) ledger.enter(replayOf(where));
      const places = new Set(replayed.map(formatPlace));
      for (const where of [...replayed, ...others]) {
        const found = ledger.has({ ...where, headers: { 'delivery-id': idOf(where) } });
        assert.equal(found, places.has(formatPlace(where)), formatPlace(where));
      }
    }),
  );
});

test('another delivery at the same place, in a topic that was made anew, is not in it', () => {
  const where = { partition: 2, offset: 5 };
  const ledger = new Ledger();
  ledger.enter(replayOf(where, Buffer.from('of the old topic')));
  assert.ok(!ledger.has({ ...where, headers: { 'delivery-id': Buffer.from('of the new topic') } }));
});

test('what others wrote to the replay lane enters nothing', () => {
  const ledger = new Ledger();
  const where = { partition: 0, offset: 0 };
  const deliveryId = idOf(where);
  for (const text of ['', '0', '0/', '/0', '0/-1', '0/0.5', '0/0/0', 'a/b', ' 0/0']) {
    ledger.enter({ headers: { 'delivery-id': deliveryId, [replayedFromHeader]: Buffer.from(text) } });
  }
  ledger.enter({ headers: { 'delivery-id': deliveryId } });
  assert.ok(!ledger.has({ ...where, headers: { 'delivery-id': deliveryId } }));
});

test('a place is read as it is written', () => {
  fc.assert(
    fc.property(place, (where) => {
      assert.deepEqual(parsePlace(formatPlace(where)), where);
    }),
  );
});
