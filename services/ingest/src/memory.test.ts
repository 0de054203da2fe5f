import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createMemoryBudget, type MemoryShare } from './memory.ts';

const overloaded = { code: 'overloaded' };

function ask(share: MemoryShare, bytes: number): void {
  share.ask(bytes, 'batch-too-large');
}

test('one owner may hold three quarters of the budget, and leaves something for the next', () => {
  const budget = createMemoryBudget(1_000);
  const [first, more, second] = [budget.open(0), budget.open(0), budget.open(0)];
  first.belongTo('a');
  more.belongTo('a');
  second.belongTo('b');
  ask(first, 750);
  assert.throws(() => {
    ask(more, 1);
  }, overloaded);
  ask(second, 187);
  assert.throws(() => {
    ask(second, 188);
  }, overloaded);
  first.close();
  ask(more, 500);
  assert.equal(budget.heldBytes, 687);
});

test('requests whose source is not known yet are one owner', () => {
  const budget = createMemoryBudget(1_000);
  ask(budget.open(50), 700);
  assert.throws(() => {
    ask(budget.open(50), 0);
  }, overloaded);
  const known = budget.open(50);
  known.belongTo('a');
  ask(known, 100);
});

test('a source that holds all it may is not given what another request of it holds already', () => {
  const budget = createMemoryBudget(1_000);
  const first = budget.open(0);
  first.belongTo('a');
  ask(first, 700);
  const second = budget.open(100);
  ask(second, 0);
  assert.throws(() => {
    second.belongTo('a');
  }, overloaded);
  assert.equal(budget.heldBytes, 800);
});

test('what even a request that is alone would not get is refused for good', () => {
  const budget = createMemoryBudget(1_000);
  const other = budget.open(0);
  ask(other, 500);
  const share = budget.open(10);
  assert.throws(
    () => {
      ask(share, 741);
    },
    { code: 'batch-too-large', message: /TAILRACE_INGEST_BUFFER/ },
  );
  assert.throws(() => {
    ask(share, 740);
  }, overloaded);
  other.close();
  ask(share, 740);
});

test('a share that was refused more keeps what it has, and one that is closed stays closed', () => {
  const budget = createMemoryBudget(1_000);
  const share = budget.open(10);
  ask(share, 90);
  assert.throws(() => {
    ask(share, 900);
  });
  assert.equal(budget.heldBytes, 100);
  share.close();
  share.keep(500);
  ask(share, 2_000);
  share.belongTo('a');
  share.close();
  assert.equal(budget.heldBytes, 0);
});

test('whatever is asked, kept and closed in whatever order, the shares add up and nothing is left', () => {
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
          if (what === 'ask') share?.ask(bytes, 'call-too-large');
          else if (what === 'keep') share?.keep(bytes);
          else if (what === 'belongTo') share?.belongTo(source);
          else share?.close();
        } catch {
          // Refused; what was held before still is.
        }
        assert.ok(budget.heldBytes >= 0);
      }
      for (const share of shares) share.close();
      assert.equal(budget.heldBytes, 0);
    }),
  );
});
