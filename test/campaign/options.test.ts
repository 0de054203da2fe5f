import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCommandLine, type Options } from './options.ts';

function read(...args: string[]): Options {
  const line = readCommandLine(args);
  assert.ok(line.kind === 'run', JSON.stringify(line));
  return line.options;
}

test('the length is in minutes or in hours, and the number of events follows from it', () => {
  const { lengthMs, events } = read('--seed', '7', '--minutes', '3');
  assert.deepEqual([lengthMs, events], [180_000, 1_800]);
  assert.equal(read('--hours', '2', '--events', '1_000_000').lengthMs, 7_200_000);
  assert.equal(read('--hours', '2', '--events', '1_000_000').events, 1_000_000);
});

test('kinds of faults and single ones are chosen', () => {
  const { kinds, keep } = read('--only', 'broker killed, link cut', '--keep', '2,5');
  assert.deepEqual(
    [kinds, keep],
    [
      ['broker killed', 'link cut'],
      [2, 5],
    ],
  );
});

test('a mistake is answered with the usage', () => {
  for (const args of [
    ['--only', 'earthquake'],
    ['--minutes', '0'],
    ['--speed', '7'],
  ]) {
    const line = readCommandLine(args);
    assert.ok(line.kind === 'mistake' && line.message.includes('Usage: npm run campaign'), args.join(' '));
  }
});
