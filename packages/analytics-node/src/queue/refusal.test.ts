import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstPart, nextPlaces, nextState, patienceAfter, suspicious, type BatchState } from './refusal.ts';

/** The same table is in Go: refusal_test.go. */
const table: readonly (readonly [calls: number, failures: number, marks: string, BatchState])[] = [
  [20, 1, 'taken room', 'waiting'],
  [20, 2, 'room', 'waiting'],
  [20, 3, 'room', 'split'],
  [20, 9, '', 'split'],
  [20, 1, 'split taken room', 'split'],
  [20, 2, 'split room', 'split'],
  [1, 1, 'taken room', 'waiting'],
  [1, 2, 'room', 'waiting'],
  [1, 3, 'room', 'probing'],
  [1, 9, 'split room', 'probing'],
  [1, 1, 'split taken room', 'aside'],
  [1, 1, 'split taken', 'waiting'],
  [1, 1, 'split room', 'waiting'],
  [1, 2, 'split room', 'waiting'],
  [20, 5, 'patient', 'waiting'],
  [20, 6, 'patient', 'split'],
  [1, 5, 'patient', 'waiting'],
  [1, 6, 'patient', 'probing'],
];

test('15.4 a refused batch waits, is split, waits for a probe, or is set aside', () => {
  for (const [calls, failures, marks, expected] of table) {
    const refused = {
      calls,
      failures,
      patience: marks.includes('patient') ? 6 : suspicious,
      isSplit: marks.includes('split'),
      afterTaken: marks.includes('taken'),
      hasRoom: marks.includes('room'),
    };
    assert.equal(
      nextState({ state: 'sending', ...refused }),
      expected,
      `${calls} calls, ${failures} failures, ${marks}`,
    );
  }
});

/** The same table is in Go, too. */
const asideTable: readonly (readonly [
  refusals: number,
  minutes: number,
  inARow: number,
  seconds: number,
  BatchState,
])[] = [
  [2, 60, 1, 0, 'aside'],
  [3, 1, 1, 0, 'insisting'],
  [3, 1, 11, 9, 'insisting'],
  [3, 1, 12, 0, 'aside'],
  [3, 1, 2, 10, 'aside'],
  [19, 60, 1, 0, 'aside'],
  [60, 14, 1, 0, 'aside'],
  [20, 15, 1, 0, 'insisting'],
  [20, 15, 11, 9, 'insisting'],
  [20, 15, 12, 0, 'reported'],
  [20, 15, 2, 10, 'reported'],
];

test('15.4 a call aside is sent several times in a row after its third refusal, and before it is reported', () => {
  const after = ([refusals, minutes, inARow, seconds]: (typeof asideTable)[number], isCounted: boolean) =>
    nextState({
      state: 'aside',
      refusals,
      forMs: minutes * 60_000,
      inARow,
      inARowMs: seconds * 1_000,
      isCounted,
    });
  for (const row of asideTable) assert.equal(after(row, true), row[4], String(row));
  assert.equal(after([3, 1, 1, 0, 'aside'], false), 'aside');
});

test('15.4 a batch is suspicious after more failures than one after which it was taken, up to twelve', () => {
  assert.deepEqual(
    [
      patienceAfter(0, 3),
      patienceAfter(5, 3),
      patienceAfter(5, 9),
      patienceAfter(11, 3),
      patienceAfter(12, 3),
    ],
    [3, 6, 9, 12, 3],
  );
});

test('the first part of a split batch is a half, or one call where nothing is known to pass', () => {
  assert.deepEqual([firstPart(9, 1), firstPart(9, 2), firstPart(9, 3), firstPart(1, 9)], [4, 4, 1, 1]);
});

test('probes go further back with each failure', () => {
  const places = [1];
  for (let n = 0; n < 6; n++) places.push(nextPlaces(places.at(-1) ?? 0));
  assert.deepEqual(places, [1, 2, 3, 5, 8, 12, 18]);
});
