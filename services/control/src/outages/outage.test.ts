import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LatestAttempts } from '@tailrace/history';
import { disablesAt, noticeOf, stepOf, type Outage, type Watched } from './outage.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const start = Date.parse('2026-05-01T00:00:00Z');
const crm: Watched = { version: 7, enabled: true, afterMs: 3 * dayMs };

interface Seen {
  readonly attemptedAt: number;
  readonly deliveredAt?: number;
  readonly watched?: Watched | undefined;
}

/** What becomes of an outage, as the instances that look at these moments write it. */
function follow(seen: readonly Seen[], first?: Outage) {
  let outage = first;
  const steps: string[] = [];
  for (const { attemptedAt, deliveredAt = null, watched = crm } of seen) {
    const attempts: LatestAttempts = { attemptedAt, deliveredAt, reason: 'timeout' };
    const step = stepOf(outage, watched, attempts);
    steps.push(step?.kind ?? '-');
    if (step) outage = step.kind === 'over' ? undefined : step.outage;
  }
  return { outage, steps, kinds: steps.filter((kind) => kind !== '-' && kind !== 'continue') };
}

const failures = (from: number, to: number, everyMs = hourMs): Seen[] =>
  Array.from({ length: Math.floor((to - from) / everyMs) + 1 }, (_, nth) => ({
    attemptedAt: from + nth * everyMs,
  }));

test('a destination whose attempts only fail is warned a day before, and then disabled', () => {
  const { outage, kinds, steps } = follow(failures(start, start + 3 * dayMs));
  assert.deepEqual(kinds, ['begin', 'warn', 'disable']);
  assert.equal(steps.indexOf('warn'), 48);
  assert.equal(steps.indexOf('disable'), 72);
  const span = { version: 7, since: start, until: start + 3 * dayMs, reason: 'timeout' };
  assert.deepEqual(outage, { state: 'disabled', ...span, warnedAt: start + 2 * dayMs });
});

test('where the time is at most a day, the warning is at half of it', () => {
  assert.deepEqual(
    [1, 24, 25, 240].map((hours) => noticeOf(hours * hourMs) / hourMs),
    [0.5, 12, 24, 24],
  );
  const watched = { ...crm, afterMs: hourMs };
  const every10min = failures(start, start + hourMs, hourMs / 6).map((seen) => ({ ...seen, watched }));
  assert.deepEqual(follow(every10min).kinds, ['begin', 'warn', 'disable']);
});

test('a success ends the outage, also in between, and before or after the warning', () => {
  for (const at of [hourMs, dayMs, 2.5 * dayMs, 3 * dayMs - 1]) {
    const before = failures(start, start + at);
    const next = { attemptedAt: start + 3 * dayMs, deliveredAt: start + at };
    assert.deepEqual(follow([...before, next]).kinds.at(-1), 'over');
    const { outage, kinds } = follow([
      ...before,
      next,
      ...failures(start + 3 * dayMs + 1, start + 4 * dayMs),
    ]);
    assert.deepEqual([kinds.slice(-2), outage?.state], [['over', 'begin'], 'failing']);
  }
});

test('silence is no failure: without attempts nothing happens, and after a day of it the time begins anew', () => {
  const silent = Array.from({ length: 100 }, () => ({ attemptedAt: start }));
  assert.deepEqual(follow(silent).kinds, ['begin']);
  const warned = failures(start, start + 2 * dayMs);
  const later = failures(start + 3 * dayMs + hourMs, start + 4 * dayMs);
  assert.deepEqual(follow([...warned, ...later]).kinds, ['begin', 'warn', 'over', 'begin']);
});

test('a destination is never disabled less than the notice after its warning, however late that was', () => {
  const { kinds, steps } = follow([
    ...failures(start, start + dayMs),
    // No instance ran for 23 hours twice.
    ...failures(start + 47 * hourMs, start + 47 * hourMs),
    ...failures(start + 70 * hourMs, start + 95 * hourMs),
  ]);
  assert.deepEqual(kinds, ['begin', 'warn', 'disable']);
  assert.equal(steps.lastIndexOf('disable') - steps.indexOf('warn'), 24);
});

test('a change of the entry, also by hand, begins the time anew', () => {
  const { outage } = follow(failures(start, start + 2.5 * dayMs));
  assert.equal(outage?.state, 'warned');
  const attempts = { attemptedAt: start + 3 * dayMs, deliveredAt: null, reason: 'timeout' };
  assert.deepEqual(stepOf(outage, { ...crm, version: 8 }, attempts), { kind: 'over' });
  assert.deepEqual(stepOf(outage, { ...crm, version: 8, afterMs: undefined }, attempts), { kind: 'over' });
  assert.equal(stepOf(outage, { ...crm, version: 8, enabled: false }, attempts), undefined);
  assert.deepEqual(stepOf(outage, undefined, attempts), { kind: 'over' });
});

test('what was disabled is known until it is enabled, and not before that was read', () => {
  const { outage } = follow(failures(start, start + 3 * dayMs));
  const attempts = { attemptedAt: start + 3 * dayMs, deliveredAt: null, reason: 'timeout' };
  assert.equal(stepOf(outage, crm, attempts), undefined);
  assert.equal(stepOf(outage, { ...crm, version: 8, enabled: false }, attempts), undefined);
  assert.deepEqual(stepOf(outage, { ...crm, version: 9 }, attempts), { kind: 'over' });
});

test('an attempt that seems to be in the future disables nothing by itself', () => {
  const future = { attemptedAt: start + 10 * dayMs };
  const { outage, kinds } = follow([...failures(start, start + dayMs), future, future, future]);
  assert.deepEqual(
    [kinds, outage],
    [
      ['begin', 'over', 'begin'],
      {
        state: 'failing',
        version: 7,
        since: future.attemptedAt,
        until: future.attemptedAt,
        reason: 'timeout',
      },
    ],
  );
});

test('the latest attempt is written a few times in the notice, and less than that is kept in memory', () => {
  const { steps } = follow(failures(start, start + dayMs, 60_000));
  assert.equal(steps.filter((kind) => kind === 'continue').length, 8);
  assert.equal(
    disablesAt({ state: 'failing', version: 1, since: start, until: start, reason: null }, dayMs),
    start + dayMs,
  );
});
