import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createTurns } from './turns.ts';

test('a work that has nothing to wait for is over before the call returns', () => {
  const takeTurn = createTurns();
  const done: string[] = [];
  takeTurn('u-1', () => void done.push('a'));
  takeTurn('u-1', () => void done.push('b'));
  assert.deepEqual(done, ['a', 'b']);
});

test('works of one key keep their order, and other keys do not wait', async () => {
  const key = fc.option(fc.constantFrom('u-1', 'u-2', 'u-3'), { nil: undefined });
  const works = fc.array(fc.record({ key, waits: fc.boolean() }), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(works, fc.scheduler(), async (list, scheduler) => {
      const takeTurn = createTurns();
      const done: { key: string | undefined; number: number }[] = [];
      const waiting = new Set<string | undefined>();
      list.forEach(({ key, waits }, number) => {
        const before = done.length;
        takeTurn(key, () => {
          if (!waits) {
            done.push({ key, number });
            return undefined;
          }
          return scheduler.schedule(Promise.resolve()).then(() => {
            done.push({ key, number });
          });
        });
        const mayRunAtOnce = !waits && (key === undefined || !waiting.has(key));
        assert.equal(done.length - before, mayRunAtOnce ? 1 : 0);
        if (!mayRunAtOnce) waiting.add(key);
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
