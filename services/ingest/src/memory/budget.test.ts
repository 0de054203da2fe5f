import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createMemoryBudget, type MemoryShare } from './budget.ts';

const overloaded = { code: 'overloaded' };

function reserve(share: MemoryShare, bytes: number): void {
  share.reserve(bytes, 'batch-too-large');
}

test('one owner may hold three quarters of the budget, and the rest is free for the next owner', () => {
  const budget = createMemoryBudget(1_000);
  const [first, more, second] = [budget.open(0), budget.open(0), budget.open(0)];
  first.assignTo('a');
  more.assignTo('a');
  second.assignTo('b');
  reserve(first, 750);
  assert.throws(() => {
    reserve(more, 1);
  }, overloaded);
  reserve(second, 187);
  assert.throws(() => {
    reserve(second, 188);
  }, overloaded);
  first.close();
  reserve(more, 500);
  assert.equal(budget.heldBytes, 687);
});

test('requests whose source is not known yet share one owner', () => {
  const budget = createMemoryBudget(1_000);
  reserve(budget.open(50), 700);
  assert.throws(() => {
    reserve(budget.open(50), 0);
  }, overloaded);
  const known = budget.open(50);
  known.assignTo('a');
  reserve(known, 100);
});

test('a share is not assigned to a source that already holds its maximum', () => {
  const budget = createMemoryBudget(1_000);
  const first = budget.open(0);
  first.assignTo('a');
  reserve(first, 700);
  const second = budget.open(100);
  reserve(second, 0);
  assert.throws(() => {
    second.assignTo('a');
  }, overloaded);
  assert.equal(budget.heldBytes, 800);
});

test('a request that could not get its memory even alone is refused with a permanent error', () => {
  const budget = createMemoryBudget(1_000);
  const other = budget.open(0);
  reserve(other, 500);
  const share = budget.open(10);
  assert.throws(
    () => {
      reserve(share, 741);
    },
    { code: 'batch-too-large', message: /TAILRACE_INGEST_BUFFER/ },
  );
  assert.throws(() => {
    reserve(share, 740);
  }, overloaded);
  other.close();
  reserve(share, 740);
});

test('a refused reservation keeps the previous one, and a closed share stays closed', () => {
  const budget = createMemoryBudget(1_000);
  const share = budget.open(10);
  reserve(share, 90);
  assert.throws(() => {
    reserve(share, 900);
  });
  assert.equal(budget.heldBytes, 100);
  share.close();
  share.set(500);
  reserve(share, 2_000);
  share.assignTo('a');
  share.close();
  assert.equal(budget.heldBytes, 0);
});

test('after any sequence of operations the shares add up, and closing them frees everything', () => {
  const step = fc.record({
    which: fc.nat(4),
    what: fc.constantFrom('ask', 'keep', 'belongTo', 'close'),
    bytes: fc.nat(600),
    source: fc.constantFrom('a', 'b'),
  });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const budget = createMemoryBudget(1_000);
      const shares = Array.from({ length: 5 }, () => budget.open(7));
      for (const { which, what, bytes, source } of steps) {
        const share = shares[which];
        try {
          if (what === 'ask') share?.reserve(bytes, 'call-too-large');
          else if (what === 'keep') share?.set(bytes);
          else if (what === 'belongTo') share?.assignTo(source);
          else share?.close();
        } catch {
          // Refused. The previous reservation remains.
        }
        assert.ok(budget.heldBytes >= 0);
      }
      for (const share of shares) share.close();
      assert.equal(budget.heldBytes, 0);
    }),
  );
});
