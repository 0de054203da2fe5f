import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Heap } from './heap.ts';

test('a heap returns the lowest item after any sequence of additions and removals', () => {
  const step = fc.option(fc.integer());
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200, size: 'max' }), (steps) => {
      const heap = new Heap<number>((a, b) => a < b);
      const list: number[] = [];
      for (const added of steps) {
        if (added === null) assert.equal(heap.takeFirst(), list.shift());
        else {
          heap.push(added);
          list.push(added);
          list.sort((a, b) => a - b);
        }
        assert.equal(heap.first, list[0]);
        assert.equal(heap.size, list.length);
      }
      assert.deepEqual(
        [...heap.items].sort((a, b) => a - b),
        list,
      );
      heap.clear();
      assert.equal(heap.takeFirst(), undefined);
    }),
  );
});

test('adding and taking one of 100,000 items makes at most two comparisons for each level', () => {
  let compared = 0;
  const heap = new Heap<number>((a, b) => {
    compared += 1;
    return a < b;
  });
  for (let count = 0; count < 100_000; count += 1) heap.push((count * 7_919) % 100_000);
  compared = 0;
  heap.push(-1);
  assert.equal(heap.takeFirst(), -1);
  assert.ok(compared <= 3 * 17, `${compared}`);
});
