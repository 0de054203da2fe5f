import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callOf } from '../support/oracle/calls.ts';
import { longestWaitMs, recoveryMs, renderMarkdown, renderTable, sumOf, type Figures } from './report.ts';

test('the longest wait is that of an event that was sent during the fault', () => {
  const sends = [0, 1, 2, 3].map((number) => ({ number, call: callOf(number), askedAt: number * 1_000 }));
  const arrivals = new Map([
    ['event-0', 20],
    ['event-1', 5_000],
    ['event-2', 5_010],
    ['event-3', 9_000],
  ]);
  assert.equal(longestWaitMs({ beganAt: 900, settledAt: 2_500 }, { sends }, arrivals), 4_000);
  assert.equal(longestWaitMs({ beganAt: 5_000, settledAt: 6_000 }, { sends }, arrivals), undefined);
});

test('a fault is over when the throughput is back and stays', () => {
  const steady = Array.from({ length: 6_000 }, (_, nth) => nth * 10);
  const during = { from: 10_000, until: 30_000 };
  assert.equal(recoveryMs(steady, 100, during), 0);
  const late = steady.map((at) => (at >= 12_000 && at < 17_000 ? 17_000 : at));
  assert.equal(recoveryMs(late, 100, during), 7_000);
  const few = steady.filter((at) => at < 12_000 || at >= 17_000 || at % 20 === 0);
  assert.equal(recoveryMs(few, 100, during), 7_800);
});

const figures: Figures = {
  events: 1_200,
  faults: 3,
  delivered: 4_800,
  dead: 1_200,
  decided: 0,
  lost: 1,
  repeats: { killed: 2, moved: 1, 'cut off': 0, 'lost answer': 0, 'written twice': 0 },
  byKind: [{ kind: 'broker killed', count: 3, waitsMs: [6_400, 6_300, 8_250], recoveriesMs: [] }],
  notRun: ['clock jumped'],
  violations: [{ rule: 'lost', says: 'event-2 at plain was accepted' }],
};

test('the report names each kind of fault, the causes of repeats, and violations by their rule', () => {
  const text = renderTable(figures);
  assert.match(text, /broker killed +3 +6\.4 +8\.3 +- +-/);
  assert.match(text, /3 repeats: killed 2, moved 1\n/);
  assert.match(text, /not possible here: clock jumped\n/);
  assert.match(text, /1 violations: lost 1\nlost: event-2 at plain was accepted$/);
  assert.match(
    renderMarkdown('Seed 7', figures),
    /^## Seed 7\n\n- 1,200 events, 3 faults\n[^]*\| broker killed \| 3 \| 6\.4 \| 8\.3 \| - \| - \|\n$/,
  );
});

test('the report of several seeds has the faults of all', () => {
  const killed = { kind: 'service killed', count: 1, waitsMs: [1_000], recoveriesMs: [500] } as const;
  const all = sumOf([figures, { ...figures, faults: 1, byKind: [killed], violations: [] }]);
  assert.deepEqual([all.events, all.faults, all.lost, all.repeats.killed], [2_400, 4, 2, 4]);
  assert.deepEqual(
    all.byKind.map(({ kind }) => kind),
    ['service killed', 'broker killed'],
  );
  assert.equal(all.violations.length, 1);
});
