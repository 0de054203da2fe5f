import assert from 'node:assert/strict';
import test from 'node:test';
import { replayedFromHeader } from '@tailrace/topics';
import fc from 'fast-check';
import { formatPosition, ReplayedLetters, parsePosition, type RecordPosition } from './replayed-letters.ts';

const partition = fc.nat({ max: 3 });
const offset = fc.oneof(
  fc.nat({ max: 3_000 }),
  fc.maxSafeNat().map((n) => n % 10 ** 15),
);
const place = fc.record({ partition, offset }, { noNullPrototype: true });

function idOf(where: RecordPosition): Buffer {
  return Buffer.from(`delivery of ${formatPosition(where)}`);
}

function replayOf(where: RecordPosition, deliveryId = idOf(where)) {
  return {
    headers: { 'delivery-id': deliveryId, [replayedFromHeader]: Buffer.from(formatPosition(where)) },
  };
}

test('exactly the dead letters that were replayed are in the ledger', () => {
  fc.assert(
    fc.property(fc.array(place), fc.array(place), (replayed, others) => {
      const letters = new ReplayedLetters();
      for (const where of replayed) letters.enter(replayOf(where));
      const places = new Set(replayed.map(formatPosition));
      for (const where of [...replayed, ...others]) {
        const found = letters.has({ ...where, headers: { 'delivery-id': idOf(where) } });
        assert.equal(found, places.has(formatPosition(where)), formatPosition(where));
      }
    }),
  );
});

test('another delivery at the same place, in a topic that was made anew, is not in it', () => {
  const where = { partition: 2, offset: 5 };
  const letters = new ReplayedLetters();
  letters.enter(replayOf(where, Buffer.from('of the old topic')));
  assert.ok(!letters.has({ ...where, headers: { 'delivery-id': Buffer.from('of the new topic') } }));
});

test('what others wrote to the replay lane enters nothing', () => {
  const letters = new ReplayedLetters();
  const where = { partition: 0, offset: 0 };
  const deliveryId = idOf(where);
  for (const text of ['', '0', '0/', '/0', '0/-1', '0/0.5', '0/0/0', 'a/b', ' 0/0']) {
    letters.enter({ headers: { 'delivery-id': deliveryId, [replayedFromHeader]: Buffer.from(text) } });
  }
  letters.enter({ headers: { 'delivery-id': deliveryId } });
  assert.ok(!letters.has({ ...where, headers: { 'delivery-id': deliveryId } }));
});

test('a place is read as it is written', () => {
  fc.assert(
    fc.property(place, (where) => {
      assert.deepEqual(parsePosition(formatPosition(where)), where);
    }),
  );
});
