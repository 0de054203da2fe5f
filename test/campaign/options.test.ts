import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCommandLine, type Options } from './options.ts';

function read(...args: string[]): Options {
  const line = readCommandLine(args);
  assert.ok(line.kind === 'run', JSON.stringify(line));
  return line.options;
}

test('the length is in minutes or in hours, and the load is a rate or a number of events', () => {
  const { lengthMs, ratePerSecond } = read('--seed', '7', '--minutes', '3');
  assert.deepEqual([lengthMs, ratePerSecond], [180_000, 10]);
  assert.equal(read('--hours', '2').lengthMs, 7_200_000);
  assert.equal(read('--minutes', '3', '--rate', '300').ratePerSecond, 300);
  assert.equal(read('--hours', '1', '--events', '1_080_000').ratePerSecond, 300);
});

test('seeds are one, a range or a list', () => {
  assert.deepEqual(read().seeds, [1]);
  assert.deepEqual(read('--seed', '7').seeds, [7]);
  assert.deepEqual(read('--seeds', '1..3, 7').seeds, [1, 2, 3, 7]);
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
    ['--seeds', '1..x'],
    ['--speed', '7'],
  ]) {
    const line = readCommandLine(args);
    assert.ok(line.kind === 'mistake' && line.message.includes('Usage: npm run campaign'), args.join(' '));
  }
});
