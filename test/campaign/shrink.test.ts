import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { shrink } from './shrink.ts';

test('exactly the faults that are needed for the failure remain', async () => {
  const sizes = fc.integer({ min: 1, max: 40 });
  await fc.assert(
    fc.asyncProperty(sizes, fc.array(fc.nat({ max: 39 }), { maxLength: 3 }), async (size, drawn) => {
      const items = Array.from({ length: size }, (_, nth) => nth);
      const needed = [...new Set(drawn.filter((nth) => nth < size))].sort((a, b) => a - b);
      const fails = (part: readonly number[]): Promise<boolean> =>
        Promise.resolve(needed.every((nth) => part.includes(nth)));
      assert.deepEqual(await shrink(items, fails), needed);
    }),
  );
});

test('a failure that does not return keeps all faults', async () => {
  const items = [1, 2, 3, 4, 5];
  assert.deepEqual(await shrink(items, () => Promise.resolve(false)), items);
});
