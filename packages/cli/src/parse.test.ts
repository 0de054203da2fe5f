import assert from 'node:assert/strict';
import test from 'node:test';
import { defineCommand, exitCodes, UsageError, type Command } from './command.ts';
import { parseArguments } from './parse.ts';

const run = () => Promise.resolve({ exitCode: exitCodes.done, text: [], json: {} });
const commands: readonly Command[] = [
  defineCommand({
    name: 'topics apply',
    summary: '',
    details: [],
    examples: [],
    through: 'kafka',
    options: {},
    run,
  }),
  defineCommand({
    name: 'apply',
    summary: '',
    details: [],
    examples: [],
    through: 'kafka',
    options: {
      file: { type: 'string', short: 'f', placeholder: 'FILE', required: true, help: '' },
      'dry-run': { type: 'boolean', help: '' },
    },
    run,
  }),
  defineCommand({
    name: 'dead show',
    summary: '',
    details: [],
    examples: [],
    through: 'kafka',
    options: {
      delivery: { type: 'string', positional: true, required: true, placeholder: 'DELIVERY', help: '' },
      limit: { type: 'integer', placeholder: 'N', min: 1, max: 100, default: 50, help: '' },
    },
    run,
  }),
  defineCommand({
    name: 'dead delete',
    summary: '',
    details: [],
    examples: [],
    through: 'kafka',
    options: {
      letters: { type: 'list', positional: true, required: true, placeholder: 'LETTER', help: '' },
      tag: { type: 'list', placeholder: 'TAG', help: '' },
      at: { type: 'integer', placeholder: 'N', min: 1, max: 9, help: '' },
    },
    run,
  }),
  defineCommand({
    name: 'shell',
    summary: '',
    details: [],
    examples: [],
    through: 'neither',
    options: {
      shell: { type: 'string', positional: true, placeholder: 'SHELL', choices: ['bash', 'zsh'], help: '' },
      rest: { type: 'string', positional: true, placeholder: 'REST', help: '' },
    },
    run,
  }),
];

function optionsOf(...argv: string[]) {
  const invocation = parseArguments(argv, commands);
  assert.ok(invocation.kind === 'run');
  const { file, 'dry-run': dryRun } = invocation.options;
  return { name: invocation.command.name, file, dryRun, asJson: invocation.asJson };
}

test('options are read in every form that command lines have', () => {
  const expected = { name: 'apply', file: 'a.yaml', dryRun: true, asJson: false };
  assert.deepEqual(optionsOf('apply', '-f', 'a.yaml', '--dry-run'), expected);
  assert.deepEqual(optionsOf('apply', '--dry-run', '--file', 'a.yaml'), expected);
  assert.deepEqual(optionsOf('apply', '--dry-run', '--file=a.yaml'), expected);
  assert.deepEqual(optionsOf('apply', '-fa.yaml', '--dry-run'), expected);
  assert.deepEqual(optionsOf('apply', '-f', '-'), { ...expected, file: '-', dryRun: false });
  assert.deepEqual(optionsOf('apply', '--file=-a', '--output', 'json'), {
    ...expected,
    file: '-a',
    dryRun: false,
    asJson: true,
  });
});

test('an argument stands before or after the options, and a number is a number', () => {
  const valuesOf = (...argv: string[]) => {
    const invocation = parseArguments(argv, commands);
    assert.ok(invocation.kind === 'run');
    const { delivery, limit } = invocation.options;
    return [invocation.command.name, delivery, limit];
  };
  assert.deepEqual(valuesOf('dead', 'show', 'd-1'), ['dead show', 'd-1', 50]);
  assert.deepEqual(valuesOf('dead', 'show', 'd-1', '--limit', '7'), ['dead show', 'd-1', 7]);
  assert.deepEqual(valuesOf('dead', 'show', '--limit=100', 'd-1'), ['dead show', 'd-1', 100]);
});

test('arguments are taken in their order, and the last may be a list', () => {
  const valuesOf = (...argv: string[]) => {
    const invocation = parseArguments(argv, commands);
    assert.ok(invocation.kind === 'run');
    return invocation.options;
  };
  const given = valuesOf('dead', 'delete', 'd-1', '--tag', 'a', 'd-2', '--tag=b', '--', '-d', '--help');
  assert.deepEqual(
    [given['letters'], given['tag']],
    [
      ['d-1', 'd-2', '-d', '--help'],
      ['a', 'b'],
    ],
  );
  assert.deepEqual([given['at'], valuesOf('dead', 'delete', 'd', '--at', '3')['at']], [undefined, 3]);
  const shell = valuesOf('shell', 'zsh', 'more');
  assert.deepEqual([shell['shell'], shell['rest']], ['zsh', 'more']);
  assert.equal(valuesOf('shell')['shell'], undefined);
});

test('help is given for all, for a group and for a command, wherever it is asked for', () => {
  const topics: [argv: string[], topic: string][] = [
    [['--help'], ''],
    [['-h'], ''],
    [['topics', '--help'], 'topics'],
    [['topics', 'apply', '-h'], 'topics apply'],
    [['apply', '--dry-run', '--help'], 'apply'],
    [['dead', 'show', 'd-1', '--help'], 'dead show'],
  ];
  for (const [argv, topic] of topics) {
    assert.deepEqual(parseArguments(argv, commands), { kind: 'help', topic }, argv.join(' '));
  }
  assert.deepEqual(parseArguments(['--version'], commands), { kind: 'version' });
});

test('what is wrong with a command line is said, with what may be meant', () => {
  const cases: [argv: string[], message: RegExp][] = [
    [[], /^a command is missing$/],
    [['topics'], /a command is missing; there are: topics apply$/],
    [['topics', 'aplpy'], /no command topics aplpy; is topics apply meant/],
    [['fetch'], /no command fetch$/],
    [['dead', 'sho', 'd-1'], /no command dead sho d-1; is dead show meant\?$/],
    [['dead', 'count'], /no command dead count; there are: dead show, dead delete$/],
    [['dead', 'delete'], /^LETTER is missing$/],
    [['dead', 'delete', 'd-1', '--tag', 'a', '--tag'], /--tag needs a value: --tag TAG/],
    [['shell', 'fish'], /^SHELL is bash or zsh, not fish$/],
    [['aply', '--help'], /no command aply; is apply meant/],
    [['--output', 'json', 'apply'], /options come after a command: --output/],
    [['apply', 'a.yaml'], /apply takes no argument, but was given a\.yaml/],
    [['apply', '-f', 'a.yaml', 'b.yaml'], /not understood: b\.yaml/],
    [['apply', '-f', 'a.yaml', '--', 'b'], /not understood: --/],
    [['apply'], /--file FILE is missing/],
    [['apply', '-f'], /-f needs a value: -f FILE/],
    [['apply', '--file='], /--file needs a value/],
    [['apply', '--file', '--dry-run'], /--file needs a value/],
    [['apply', '-f', 'a', '--file', 'b'], /--file is given twice/],
    [['apply', '-f', 'a', '--dry-urn'], /no option --dry-urn; is --dry-run meant/],
    [['apply', '-f', 'a', '--force'], /no option --force$/],
    [['apply', '-f', 'a', '--constructor'], /no option --constructor$/],
    [['apply', '-f', 'a', '-x'], /no option -x$/],
    [['apply', '-f', 'a', '--dry-run=yes'], /--dry-run takes no value/],
    [['apply', '-f', 'a', '--output', 'xml'], /--output is text or json, not xml/],
    [['dead', 'show'], /^DELIVERY is missing/],
    [['dead', 'show', 'd-1', 'd-2'], /not understood: d-2/],
    [['dead', 'show', 'd-1', '--limit', '7', 'd-2'], /not understood: d-2/],
    [['dead', 'show', '--delivery', 'd-1'], /no option --delivery$/],
    [['dead', 'show', 'd-1', '--limit', '101'], /--limit is a whole number from 1 to 100, not 101/],
    [['dead', 'show', 'd-1', '--limit', '1e1'], /--limit is a whole number from 1 to 100, not 1e1/],
  ];
  for (const [argv, message] of cases) {
    assert.throws(
      () => parseArguments(argv, commands),
      (error) => error instanceof UsageError && message.test(error.message),
      argv.join(' '),
    );
  }
});
