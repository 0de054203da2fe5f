import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callOf } from '../support/oracle/calls.ts';
import { recoveryMs, renderMarkdown, renderTable, type Figures } from './report.ts';

test('a fault lasts as long as the longest wait of an event that was sent during it', () => {
  const sends = [0, 1, 2, 3].map((number) => ({ number, call: callOf(number), askedAt: number * 1_000 }));
  const arrivals = new Map([
    ['event-0', 20],
    ['event-1', 5_000],
    ['event-2', 5_010],
    ['event-3', 9_000],
  ]);
  assert.equal(recoveryMs({ beganAt: 900, settledAt: 2_500 }, { sends }, arrivals), 4_000);
  assert.equal(recoveryMs({ beganAt: 5_000, settledAt: 6_000 }, { sends }, arrivals), NaN);
});

test('the report names each kind of fault, the causes of repeats, and violations by their rule', () => {
  const figures: Figures = {
    events: 1_200,
    faults: 3,
    delivered: 4_800,
    dead: 1_200,
    decided: 0,
    lost: 1,
    repeats: { killed: 2, moved: 1, 'cut off': 0, 'lost answer': 0, 'written twice': 0 },
    byKind: [{ kind: 'broker killed', count: 3, recoveryMs: { p50: 6_400, max: 8_250 } }],
    notRun: ['clock jumped'],
    violations: [{ rule: 'lost', says: 'event-2 at plain was accepted' }],
  };
  const text = renderTable(figures);
  assert.match(text, /broker killed +3 +6\.4 +8\.3/);
  assert.match(text, /3 repeats: killed 2, moved 1\n/);
  assert.match(text, /not possible here: clock jumped\n/);
  assert.match(text, /1 violations: lost 1\nlost: event-2 at plain was accepted$/);
  assert.match(
    renderMarkdown('Seed 7', figures),
    /^## Seed 7\n\n- 1,200 events, 3 faults\n[^]*\| broker killed \| 3 \| 6\.4 s \| 8\.3 s \|\n$/,
  );
});
