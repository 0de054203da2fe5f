/** Tests of the command line itself. A command that gets as far as its settings ends with an error about them. */
import assert from 'node:assert/strict';
import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { eventTypes as allEventTypes } from '@tailrace/events';
import { partitionGroups } from '@tailrace/topology';
import type { Command } from 'commander';
import { eventTypes, leafCommands } from './declare.ts';
import { buildProgram } from './program.ts';
import { runCli } from './run.ts';

/** The values with which a command line calls its command. */
async function parse(...argv: string[]): Promise<Record<string, unknown>> {
  let called: Command | undefined;
  const action = (...given: unknown[]): Promise<void> => {
    called = given.at(-1) as Command;
    return Promise.resolve();
  };
  const program = buildProgram(() => action, {}, argv);
  await program.parseAsync(argv, { from: 'user' });
  assert.ok(called);
  return { ...called.opts<Record<string, unknown>>(), args: called.args };
}

async function tailrace(...argv: string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const exitCode = await runCli({
    argv,
    env: {},
    out: (line) => out.push(...line.split('\n')),
    err: (line) => err.push(...line.split('\n')),
  });
  return { exitCode, out, err };
}

test('an option is accepted in every common form', async () => {
  const expected = { file: 'a.yaml', dryRun: true, output: 'text', args: [] };
  assert.deepEqual(await parse('apply', '-f', 'a.yaml', '--dry-run'), expected);
  assert.deepEqual(await parse('apply', '--dry-run', '--file', 'a.yaml'), expected);
  assert.deepEqual(await parse('apply', '--dry-run', '--file=a.yaml'), expected);
  assert.deepEqual(await parse('apply', '-fa.yaml', '--dry-run'), expected);
  assert.equal((await parse('apply', '-f', '-'))['file'], '-');
  assert.equal((await parse('apply', '--file=-a'))['file'], '-a');
  assert.equal((await parse('apply', '--file=--dry-run'))['file'], '--dry-run');
  assert.equal((await parse('apply', '-f', 'a', '--output', 'json'))['output'], 'json');
});

test('an argument may stand before or after the options', async () => {
  assert.deepEqual((await parse('dead', 'show', 'd-1', '--raw'))['args'], ['d-1']);
  assert.deepEqual((await parse('dead', 'show', '--raw', 'd-1'))['args'], ['d-1']);
});

test('a repeatable option and the last argument collect values in order', async () => {
  const { args, source } = await parse(
    'user',
    'delete',
    'u-1',
    '--source',
    'a',
    'u-2',
    '--source=b',
    '--',
    '-u',
    '--help',
  );
  assert.deepEqual(args, ['u-1', 'u-2', '-u', '--help']);
  assert.deepEqual(source, ['a', 'b']);
});

test('numbers are parsed, and have their defaults', async () => {
  assert.equal((await parse('dead', 'list'))['limit'], 50);
  assert.equal((await parse('dead', 'list', '--limit', '7'))['limit'], 7);
  assert.equal((await parse('dead', 'replay', '--all'))['rate'], 50);
  assert.equal((await parse('tail'))['count'], undefined);
});

test('help is written to standard output at every level', async () => {
  const cases: [argv: string[], usage: RegExp][] = [
    [['--help'], /^Usage: tailrace <command>/],
    [['-h'], /^Usage: tailrace <command>/],
    [['topics', '--help'], /^Usage: tailrace topics <command>/],
    [['topics', 'apply', '-h'], /^Usage: tailrace topics apply /],
    [['apply', '--dry-run', '--help'], /^Usage: tailrace apply /],
    [['dead', 'show', 'd-1', '--help'], /^Usage: tailrace dead show .*<delivery>/],
  ];
  for (const [argv, usage] of cases) {
    const { exitCode, out, err } = await tailrace(...argv);
    assert.deepEqual([exitCode, err], [0, []], argv.join(' '));
    assert.match(out[0] ?? '', usage);
  }
  assert.deepEqual((await tailrace('--version')).out, ['0.1.0']);
});

test('without a command, help is written to standard error and the exit code is 2', async () => {
  for (const argv of [[], ['topics']]) {
    const { exitCode, out, err } = await tailrace(...argv);
    assert.deepEqual([exitCode, out], [2, []]);
    assert.match(err[0] ?? '', /^Usage: tailrace/);
  }
});

test('an invalid command line is reported with a suggestion and exit code 2', async () => {
  const cases: [argv: string[], message: RegExp][] = [
    [['topics', 'aplpy'], /unknown command 'aplpy'\n.*apply/],
    [['fetch', 'x'], /unknown command 'fetch'/],
    [['aply', '-f', 'a'], /unknown command 'aply'\n.*apply/],
    [['dead', 'sho', 'd-1'], /unknown command 'sho'\n.*show/],
    [['user', 'delete'], /missing required argument 'users'/],
    [['dead', 'show'], /missing required argument 'delivery'/],
    [['dead', 'show', 'd-1', 'd-2'], /too many arguments/],
    [['completion', 'fish'], /'fish' is invalid for argument 'shell'. Allowed choices are bash, zsh\./],
    [['--output', 'json', 'apply'], /unknown option '--output'/],
    [['apply', 'a.yaml', '-f', 'a.yaml'], /too many arguments/],
    [['apply', '-f', 'a.yaml', '--', 'b'], /too many arguments/],
    [['apply'], /required option '-f, --file <file>' not specified/],
    [['apply', '-f'], /'-f, --file <file>' argument missing/],
    [['apply', '--file='], /'-f, --file <file>' needs a value/],
    [['apply', '--file', '--dry-run'], /'-f, --file <file>' needs a value/],
    [['apply', '--file', '--dry-rnu'], /'-f, --file <file>' needs a value/],
    [['apply', '-f', '-x'], /'-f, --file <file>' needs a value/],
    [['create', 'source', '--name', '--yes'], /'--name <name>' needs a value/],
    [['apply', '-f', 'a', '--file', 'b'], /'-f, --file <file>' is given more than once/],
    [['dead', 'list', '--limit', '1', '--limit', '2'], /'--limit <n>' is given more than once/],
    [['apply', '-f', 'a', '--dry-urn'], /unknown option '--dry-urn'\n.*--dry-run/],
    [['apply', '-f', 'a', '--constructor'], /unknown option '--constructor'/],
    [['apply', '-f', 'a', '-x'], /unknown option '-x'/],
    [['apply', '-f', 'a', '--dry-run=yes'], /unknown option '--dry-run=yes'/],
    [['apply', '-f', 'a', '--output', 'xml'], /'xml' is invalid. Allowed choices are text, json, yaml\./],
    [['dead', 'list', '--limit', '1000001'], /It must be a whole number from 1 to 1000000\./],
    [['dead', 'list', '--limit', '1e1'], /It must be a whole number from 1 to 1000000\./],
    [['create', 'source', '-f', 'a', '--name', 'b'], /cannot be used with option '--name <name>'/],
    [['topics', 'apply', '--only', 'events'], /--only requires --partitions/],
  ];
  for (const [argv, message] of cases) {
    const { exitCode, out, err } = await tailrace(...argv);
    assert.deepEqual([exitCode, out], [2, []], argv.join(' '));
    assert.match(err.join('\n'), message);
    assert.match(err[0] ?? '', /^tailrace: /);
    assert.match(err.at(-1) ?? '', /^See tailrace.* --help\.$/);
  }
});

test('choices have the values of the packages that they stand for', () => {
  assert.deepEqual(eventTypes, allEventTypes);
  const apply = leafCommands(buildProgram(() => () => Promise.resolve())).find(
    ({ path }) => path === 'topics apply',
  );
  const only = apply?.command.options.find(({ long }) => long === '--only');
  assert.deepEqual(only?.argChoices, [...partitionGroups]);
});

test('help names every environment variable that a command reads', async () => {
  using folder = mkdtempDisposableSync(path.join(tmpdir(), 'tailrace-cli-'));
  const file = path.join(folder.path, 'tailrace.yaml');
  writeFileSync(file, 'sources: []');
  const arguments_: Partial<Record<string, readonly string[]>> = {
    'dead replay': ['--all'],
    replay: ['--all'],
    'create destination': ['--url', 'https://crm.example.com'],
    retry: ['--destination', 'crm'],
    drain: ['--destination', 'crm'],
    apply: ['--file', file],
    'audience sync': ['web', 'vip', '-'],
    completion: ['bash'],
    'config export': ['--file', path.join(folder.path, 'tailrace.export')],
    'config import': [file],
    'create token': ['--name', 'x'],
    'recover destination': ['crm', '--since', '1h'],
    'replay events': ['--destination', 'crm', '--from', '1h'],
    listen: ['--destination', 'crm', '--forward', 'http://localhost'],
    'config verify': [file],
  };
  for (const { path: name, command } of leafCommands(buildProgram(() => () => Promise.resolve()))) {
    // Without settings the doctor continues, and connects to services on this machine.
    if (name === 'doctor') continue;
    const read = new Set<string>();
    const env = new Proxy<Record<string, string>>(
      {},
      {
        get(_target, variable) {
          if (typeof variable === 'string') read.add(variable);
          return undefined;
        },
      },
    );
    const required = command.registeredArguments.filter((argument) => argument.required).map(() => 'x');
    const err: string[] = [];
    await runCli({
      argv: [...name.split(' '), ...(arguments_[name] ?? required)],
      env,
      out: () => undefined,
      err: (line) => err.push(line),
    });
    // These need no setting.
    if (!['completion', 'config verify', 'permissions'].includes(name))
      assert.match(err.join('\n'), /invalid settings/, name);
    const help = (await tailrace(...name.split(' '), '--help')).out.join('\n');
    for (const variable of read) {
      // Of every secret; the help explains it once.
      const shown = variable.endsWith('_FILE') ? '<NAME>_FILE' : variable;
      assert.ok(help.includes(shown), `${name} reads ${variable}`);
    }
  }
});
