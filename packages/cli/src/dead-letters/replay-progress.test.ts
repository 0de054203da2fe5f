import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outcomeOf } from './replay-progress.ts';

const replay = {
  id: '5f0c6a8e-1d9b-4a0c-8f3e-2b7d9c1e4a60',
  kind: 'events',
  state: 'done',
  dryRun: true,
  filter: { destination: 'crm' },
  ratePerSecond: 50,
  startedAt: '2026-05-01T08:30:00.000Z',
  endedAt: '2026-05-01T08:30:10.000Z',
  due: 6_000,
  replayed: 0,
  malformed: 0,
} as const;

test('a count says how long the replay takes, at the limit of the destination', () => {
  const first = (more: object): unknown => [outcomeOf({ ...replay, ...more }).text].flat()[0];
  assert.equal(first({}), 'Dry run, nothing was replayed: 6,000 events would be, in 2 minutes or more.');
  assert.equal(
    first({ expectedSeconds: 1_200 }),
    'Dry run, nothing was replayed: 6,000 events would be, in 20 minutes or more.',
  );
});

test('records that cannot be read are told, and those of a topic of restored events may be no events', () => {
  const text = (filter: { readonly topic?: string }): string =>
    [outcomeOf({ ...replay, unreadable: 2, filter }).text].flat().join('\n');
  assert.match(text({}), /^2 records cannot be read: control needs the schema registry/m);
  assert.match(
    text({ topic: 'tailrace.events.restore' }),
    /^2 records cannot be read: they are not as Tailrace wrote them, or/m,
  );
});
