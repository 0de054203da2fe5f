import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstPart, nextPlaces, nextState, type BatchState } from './refusal.ts';

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
];

test('15.4 a refused batch waits, is split, waits for a probe, or is set aside', () => {
  for (const [calls, failures, marks, expected] of table) {
    const refused = {
      calls,
      failures,
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

test('a call aside is reported after 20 refusals and 15 minutes', () => {
  const after = (refusals: number, minutes: number): BatchState =>
    nextState({ state: 'aside', refusals, forMs: minutes * 60_000 });
  assert.deepEqual([after(19, 60), after(60, 14), after(20, 15)], ['aside', 'aside', 'reported']);
});

test('the first part of a split batch is a half, or one call where nothing is known to pass', () => {
  assert.deepEqual([firstPart(9, 1), firstPart(9, 2), firstPart(9, 3), firstPart(1, 9)], [4, 4, 1, 1]);
});

test('probes go further back with each failure', () => {
  const places = [1];
  for (let n = 0; n < 6; n++) places.push(nextPlaces(places.at(-1) ?? 0));
  assert.deepEqual(places, [1, 2, 3, 5, 8, 12, 18]);
});
