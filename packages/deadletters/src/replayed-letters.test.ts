import assert from 'node:assert/strict';
import test from 'node:test';
import { formatPosition, parsePosition, replayedFromHeader, type RecordPosition } from '@tailrace/records';
import fc from 'fast-check';
import { ReplayedLetters } from './replayed-letters.ts';

const partition = fc.nat({ max: 3 });
const offset = fc.oneof(
  fc.nat({ max: 3_000 }),
  fc.maxSafeNat().map((n) => n % 10 ** 15),
);
const position = fc.record({ partition, offset }, { noNullPrototype: true });

function idOf(at: RecordPosition): Buffer {
  return Buffer.from(`delivery of ${formatPosition(at)}`);
}

function replayOf(at: RecordPosition, deliveryId = idOf(at)) {
  return {
    headers: { 'delivery-id': deliveryId, [replayedFromHeader]: Buffer.from(formatPosition(at)) },
  };
}

test('the set has exactly the dead letters that were replayed', () => {
  fc.assert(
    fc.property(fc.array(position), fc.array(position), (replayed, others) => {
      const letters = new ReplayedLetters();
      for (const at of replayed) letters.add(replayOf(at));
      const positions = new Set(replayed.map(formatPosition));
      for (const at of [...replayed, ...others]) {
        const found = letters.has({ ...at, headers: { 'delivery-id': idOf(at) } });
        assert.equal(found, positions.has(formatPosition(at)), formatPosition(at));
      }
    }),
  );
});

test('another delivery at the same position, in a topic that was created again, is not in the set', () => {
  const at = { partition: 2, offset: 5 };
  const letters = new ReplayedLetters();
  letters.add(replayOf(at, Buffer.from('of the old topic')));
  assert.ok(!letters.has({ ...at, headers: { 'delivery-id': Buffer.from('of the new topic') } }));
});

test('a record without a valid header adds nothing', () => {
  const letters = new ReplayedLetters();
  const at = { partition: 0, offset: 0 };
  const deliveryId = idOf(at);
  for (const text of ['', '0', '0/', '/0', '0/-1', '0/0.5', '0/0/0', 'a/b', ' 0/0']) {
    letters.add({ headers: { 'delivery-id': deliveryId, [replayedFromHeader]: Buffer.from(text) } });
  }
  letters.add({ headers: { 'delivery-id': deliveryId } });
  assert.ok(!letters.has({ ...at, headers: { 'delivery-id': deliveryId } }));
});

test('a formatted position is parsed to the same position', () => {
  fc.assert(
    fc.property(position, (at) => {
      assert.deepEqual(parsePosition(formatPosition(at)), at);
    }),
  );
});
