import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lonePoints, rangeOfTimes } from './points.ts';

test('a value without neighbours is a point, also the only one', () => {
  assert.deepEqual(lonePoints([7]), [0]);
  assert.deepEqual(lonePoints([1, null, 0, null, 3, 4, null]), [0, 2]);
  assert.deepEqual(lonePoints([1, 2, 3]), []);
  assert.deepEqual(lonePoints([null, undefined]), []);
});

test('the only time is in the middle of the axis', () => {
  assert.deepEqual(rangeOfTimes([7_200], false), [5_400, 9_000]);
  assert.deepEqual(rangeOfTimes([86_400], true), [43_200, 129_600]);
  assert.deepEqual(rangeOfTimes([60, 120, 180], false), [60, 180]);
});
