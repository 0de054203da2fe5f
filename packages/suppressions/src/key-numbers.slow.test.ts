import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { KeyNumbers } from './key-numbers.ts';
import { maxSuppressions } from './record.ts';

test('the table has the same keys and numbers as a Map after any changes', () => {
  const changes = fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 300 }), fc.nat()), {
    maxLength: 2_000,
    size: 'max',
  });
  fc.assert(
    fc.property(changes, (list) => {
      const table = new KeyNumbers(2);
      const expected = new Map<string, readonly number[]>();
      for (const [isSet, key, number] of list) {
        if (isSet) {
          table.set(`user ${key}`, number, number + 1);
          expected.set(`user ${key}`, [number, number + 1]);
        } else {
          table.delete(`user ${key}`);
          expected.delete(`user ${key}`);
        }
      }
      assert.equal(table.size, expected.size);
      for (let key = 0; key <= 300; key += 1) {
        assert.deepEqual(table.get(`user ${key}`), expected.get(`user ${key}`));
      }
    }),
    { numRuns: 30 },
  );
});

test('keys are found again after the table has grown and most of them were deleted', () => {
  const table = new KeyNumbers();
  for (let key = 0; key < 20_000; key += 1) table.set(`user ${key}`, key);
  for (let key = 0; key < 20_000; key += 1) if (key % 7 !== 0) table.delete(`user ${key}`);
  for (let key = 0; key < 20_000; key += 1) {
    assert.deepEqual(table.get(`user ${key}`), key % 7 === 0 ? [key] : undefined, String(key));
  }
});

test('the table for the most users that are accepted takes 34 MB, and for the most deletions 67 MB', () => {
  for (const [width, bytes] of [
    [1, 2 ** 21 * 16],
    [3, 2 ** 21 * 32],
  ] as const) {
    const table = new KeyNumbers(width);
    for (let key = 0; key < maxSuppressions; key += 1) table.set(String(key), key);
    assert.equal(table.size, maxSuppressions);
    assert.equal(table.bytes, bytes);
  }
});
