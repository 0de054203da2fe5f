import assert from 'node:assert/strict';
import test from 'node:test';
import { table } from './table.ts';

test('a table aligns text to the left and figures to the right', () => {
  const lines = table(
    ['what', 'median'],
    [
      ['delivered a second', '1,234'],
      ['p99', '7.5'],
    ],
  ).split('\n');
  assert.deepEqual(lines, [
    'what                median',
    '--------------------------',
    'delivered a second   1,234',
    'p99                    7.5',
  ]);
});
