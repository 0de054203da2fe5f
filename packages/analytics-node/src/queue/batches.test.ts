import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createBatches, type Batches } from './batches.ts';
import type { Call } from '../core/encode.ts';

const call = (n: number, bytes = 99): Call => ({
  json: String(n),
  bytes,
  userKey: 'u',
  queuedAt: 0,
  attempts: 0,
  number: n,
  stored: n,
});
const numbers = (batch: readonly Call[]): number[] => batch.map(({ json }) => Number(json));

function filled(count: number): Batches {
  const batches = createBatches({ bytes: 100_000, calls: 2_500 });
  for (let n = 0; n < count; n++) batches.add(call(n));
  return batches;
}

test('15.4 a divided batch is taken in halves, in order, and calls after it wait for their own batch', () => {
  const batches = filled(5);
  batches.divide(batches.take());
  batches.add(call(5));
  assert.deepEqual(numbers(batches.take()), [0, 1]);
  const second = batches.take();
  assert.deepEqual(numbers(second), [2, 3, 4]);
  batches.divide(second);
  assert.deepEqual(numbers(batches.take()), [2]);
  assert.deepEqual(numbers(batches.take()), [3, 4]);
  assert.equal(batches.isDivided, false);
  assert.deepEqual(numbers(batches.take()), [5]);
});

test('15.4 after slow attempts batches halve in bytes down to one call, and double with fast successes', () => {
  const batches = filled(64);
  const sizes: number[] = [];
  for (let turn = 0; turn < 8; turn++) {
    const batch = batches.take();
    sizes.push(batch.length);
    batches.slower(batch);
    batches.putBack(batch);
  }
  assert.deepEqual(sizes, [64, 32, 16, 8, 4, 2, 1, 1]);
  sizes.length = 0;
  for (let turn = 0; turn < 5; turn++) {
    sizes.push(batches.take().length);
    batches.succeeded(0.1);
  }
  assert.deepEqual(sizes, [1, 2, 4, 8, 16]);
});

test('slow successes double the size too, after four of them', () => {
  const batches = filled(64);
  const batch = batches.take();
  batches.slower(batch);
  batches.putBack(batch.slice(0, 40));
  batches.succeeded(0.9);
  batches.succeeded(0.9);
  batches.succeeded(0.9);
  const before = batches.take();
  assert.equal(before.length, 32);
  batches.putBack(before);
  batches.succeeded(0.9);
  assert.equal(batches.take().length, 40);
});

test('15.1 in any sequence of outcomes each call leaves once, in order', () => {
  const anyOutcome = fc.constantFrom('sent', 'divide', 'slow', 'put back', 'prefix');
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 60 }),
      fc.array(anyOutcome, { maxLength: 80 }),
      (count, outcomes) => {
        const batches = filled(count);
        const left: number[] = [];
        for (const outcome of outcomes) {
          const batch = batches.take();
          if (outcome === 'divide' && batch.length > 1) batches.divide(batch);
          else if (outcome === 'slow') {
            batches.slower(batch);
            batches.putBack(batch);
          } else if (outcome === 'put back') batches.putBack(batch);
          else if (outcome === 'prefix') {
            left.push(...numbers(batch.slice(0, 1)));
            batches.putBack(batch.slice(1));
          } else {
            left.push(...numbers(batch));
            batches.succeeded(0);
          }
        }
        if (batches.isDivided) left.push(...numbers(batches.takeDivided()));
        left.push(...numbers(batches.takeAll()));
        assert.deepEqual(
          left,
          Array.from({ length: count }, (_, n) => n),
        );
      },
    ),
  );
});
