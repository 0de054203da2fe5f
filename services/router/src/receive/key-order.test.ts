import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createKeyOrder } from './key-order.ts';

test('a task that does not wait completes before the call returns', () => {
  const inKeyOrder = createKeyOrder();
  const done: string[] = [];
  inKeyOrder('u-1', () => void done.push('a'));
  inKeyOrder('u-1', () => void done.push('b'));
  assert.deepEqual(done, ['a', 'b']);
});

test('tasks of one key keep their order, and tasks of other keys do not wait', async () => {
  const key = fc.option(fc.constantFrom('u-1', 'u-2', 'u-3'), { nil: undefined });
  const tasks = fc.array(fc.record({ key, waits: fc.boolean() }), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(tasks, fc.scheduler(), async (list, scheduler) => {
      const inKeyOrder = createKeyOrder();
      const done: { key: string | undefined; number: number }[] = [];
      const waiting = new Set<string | undefined>();
      list.forEach(({ key, waits }, number) => {
        const before = done.length;
        inKeyOrder(key, () => {
          if (!waits) {
            done.push({ key, number });
            return undefined;
          }
          return scheduler.schedule(Promise.resolve()).then(() => {
            done.push({ key, number });
          });
        });
        const runsImmediately = !waits && (key === undefined || !waiting.has(key));
        assert.equal(done.length - before, runsImmediately ? 1 : 0);
        if (!runsImmediately) waiting.add(key);
      });
      await scheduler.waitIdle();
      assert.equal(done.length, list.length);
      for (const key of ['u-1', 'u-2', 'u-3']) {
        const numbers = done.filter((entry) => entry.key === key).map(({ number }) => number);
        assert.deepEqual(
          numbers,
          numbers.toSorted((a, b) => a - b),
        );
      }
    }),
  );
});
