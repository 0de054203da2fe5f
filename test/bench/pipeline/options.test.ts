import assert from 'node:assert/strict';
import test from 'node:test';
import { readCommandLine, sections, type Options } from './options.ts';

function optionsOf(...args: string[]): Options {
  const line = readCommandLine(args);
  assert.equal(line.kind, 'run');
  return line.options;
}

test('without arguments, every section runs at full size', () => {
  const options = optionsOf();
  assert.deepEqual(options.sections, sections);
  assert.deepEqual([options.warmUp, options.events, options.soakEvents], [40_000, 20_000, 60_000]);
});

test('a given size overrides the quick one', () => {
  const options = optionsOf('--quick', '--events', '500');
  assert.equal(options.events, 500);
  assert.ok(options.warmUp < 40_000);
});

test('--only runs the named sections in their usual order', () => {
  assert.deepEqual(optionsOf('--only', 'parts,burst').sections, ['burst', 'parts']);
});

test('--peers runs what other products are measured by', () => {
  assert.deepEqual(optionsOf('--peers').sections, ['burst', 'steady', 'limit']);
});

test('a mistake prints a message and the usage', () => {
  for (const [args, named] of [
    [['--events', '0'], /--events/],
    [['--rate', 'fast'], /--rate/],
    [['--only', 'bursts'], /--only/],
    [['--event', '1'], /--event/],
    [['--arrivals', 'odd'], /--arrivals/],
  ] as const) {
    const line = readCommandLine(args);
    assert.equal(line.kind, 'mistake');
    assert.match(line.message, named);
    assert.match(line.message, /^Usage:/m);
  }
});

test('--help lists the options', () => {
  const line = readCommandLine(['--help', '--quick']);
  assert.equal(line.kind, 'help');
  assert.match(line.usage, /--profile FOLDER/);
});
