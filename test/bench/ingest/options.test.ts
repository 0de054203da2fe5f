import assert from 'node:assert/strict';
import test from 'node:test';
import { forms, readCommandLine, type Options } from './options.ts';

function optionsOf(...args: string[]): Options {
  const line = readCommandLine(args);
  assert.equal(line.kind, 'run');
  return line.options;
}

test('without arguments, both forms are measured at full size', () => {
  const { forms: chosen, events, runs } = optionsOf();
  assert.deepEqual([chosen, events, runs], [forms, 40_000, 3]);
});

test('a given size overrides the quick one', () => {
  const { events, warmUp } = optionsOf('--quick', '--events', '500');
  assert.deepEqual([events, warmUp], [500, 1_000]);
});

test('a mistake prints a message and the usage', () => {
  const line = readCommandLine(['--only', 'batches']);
  assert.equal(line.kind, 'mistake');
  assert.match(line.message, /--only/);
  assert.match(line.message, /^Usage:/m);
});
