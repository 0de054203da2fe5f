import assert from 'node:assert/strict';
import test from 'node:test';
import { parseStat } from './measure.ts';

test('CPU time and parent are found behind a command with spaces and parentheses', () => {
  const stat =
    '4242 (a (b) c) S 17 4242 4242 0 -1 4194560 1207 0 0 0 1234 766 50 60 20 0 11 0 123456 789 1011 0 0';
  assert.deepEqual(parseStat(stat), { parent: 17, cpuSeconds: 20 });
});
