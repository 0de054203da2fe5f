import assert from 'node:assert/strict';
import test from 'node:test';
import { overloads, readCommandLine, scenarios, type Options } from './options.ts';

function optionsOf(...args: string[]): Options {
  const commandLine = readCommandLine(args);
  assert.ok(commandLine.kind === 'run', JSON.stringify(commandLine));
  return commandLine.options;
}

test('without options, every scenario runs with sizes smaller than those of --long', () => {
  const { scenarios: run, overloads: each, backlog, overloadSeconds } = optionsOf();
  assert.deepEqual([run, each], [scenarios, overloads]);
  assert.deepEqual({ backlog, overloadSeconds }, { backlog: 200_000, overloadSeconds: 60 });
  const long = optionsOf('--long');
  assert.deepEqual([long.backlog, long.overloadSeconds], [1_000_000, 600]);
});

test('a size given as an option overrides --quick', () => {
  const { backlog, events } = optionsOf('--quick', '--backlog', '30_000');
  assert.deepEqual({ backlog, events }, { backlog: 30_000, events: 1_000 });
});

test('scenarios run in their own order, also if --only names them in another', () => {
  assert.deepEqual(optionsOf('--only', 'backlog,cost').scenarios, ['cost', 'backlog']);
  assert.deepEqual(optionsOf('--only', 'burst,many-bad').scenarios, ['many-bad', 'burst']);
});

test('a mistake in the options prints a message and the usage', () => {
  for (const args of [['--only', 'speed'], ['--backlog', '0'], ['--quick', '--long'], ['--fast']]) {
    const commandLine = readCommandLine(args);
    assert.ok(commandLine.kind === 'mistake', args.join(' '));
    assert.match(commandLine.message, /\n\nUsage: npm run bench:delivery/);
  }
});
