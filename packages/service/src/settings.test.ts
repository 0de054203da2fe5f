import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTailraceError } from '@tailrace/errors';
import {
  brokers,
  bytes,
  choice,
  cidrs,
  duration,
  durations,
  flag,
  hexKey,
  httpUrl,
  integer,
  pattern,
  port,
  secret,
  text,
} from './kinds.ts';
import { doubtfulVariables, group, readSettings, required, type Setting } from './settings.ts';

const kinds: readonly {
  kind: string;
  setting: Setting<unknown>;
  good: readonly (readonly [found: string, value: unknown])[];
  bad: readonly string[];
}[] = [
  {
    kind: 'text',
    setting: text('X'),
    good: [
      ['abc', 'abc'],
      ['  abc ', 'abc'],
    ],
    bad: [],
  },
  { kind: 'pattern', setting: pattern('X', 'letters', /^[a-z]+$/), good: [['abc', 'abc']], bad: ['a1', 'A'] },
  {
    kind: 'flag',
    setting: flag('X'),
    good: [
      ['true', true],
      ['FALSE', false],
    ],
    bad: ['yes', '1', 'toString'],
  },
  { kind: 'choice', setting: choice('X', ['a', 'b']), good: [['b', 'b']], bad: ['c', 'A'] },
  {
    kind: 'integer',
    setting: integer('X', { min: -1, max: 10 }),
    good: [
      ['-1', -1],
      ['10', 10],
    ],
    bad: ['-2', '11', '1.5', '1e1', '0x1', 'NaN'],
  },
  {
    kind: 'port',
    setting: port('X'),
    good: [
      ['0', 0],
      ['65535', 65_535],
    ],
    bad: ['65536', '-1', '80a', '8080.5'],
  },
  {
    kind: 'duration',
    setting: duration('X', undefined, { maxMs: 3_600_000 }),
    good: [
      ['250ms', 250],
      ['1h', 3_600_000],
    ],
    bad: ['2h', '0s', '10', 's', '1.5s'],
  },
  {
    kind: 'durations',
    setting: durations('X', undefined, { atMost: 3 }),
    good: [
      ['10s, 1m,1m', [10_000, 60_000, 60_000]],
      ['5s', [5_000]],
    ],
    bad: ['10s,', '10s,,1m', '1s,2s,3s,4s', 'soon'],
  },
  {
    kind: 'bytes',
    setting: bytes('X'),
    good: [
      ['1', 1],
      ['64KB', 65_536],
      ['1mb', 1_048_576],
      ['2GB', 2_147_483_648],
    ],
    bad: ['0', '-1', '1TB', '1.5MB', 'MB'],
  },
  {
    kind: 'httpUrl',
    setting: httpUrl('X'),
    good: [['http://registry:8081', 'http://registry:8081']],
    bad: ['registry:8081', 'ftp://registry', '//registry'],
  },
  {
    kind: 'cidrs',
    setting: cidrs('X'),
    good: [
      [
        '127.0.0.0/8, ::1/128',
        [
          { address: '127.0.0.0', prefix: 8, family: 'ipv4' },
          { address: '::1', prefix: 128, family: 'ipv6' },
        ],
      ],
    ],
    bad: ['127.0.0.1', '127.0.0.0/33', '::/129', '300.0.0.0/8', 'localhost/8', '10.0.0.0/8,'],
  },
  {
    kind: 'brokers',
    setting: brokers('X'),
    good: [['a:9092,b-1.example.com:9093, [::1]:9094', ['a:9092', 'b-1.example.com:9093', '[::1]:9094']]],
    bad: ['a', 'a:', 'a:0', 'a:65536', 'a:9092,', 'http://a:9092'],
  },
  {
    kind: 'hexKey',
    setting: hexKey('X', 2),
    good: [['00fF', Buffer.from([0, 255])]],
    bad: ['00f', '00fg', '0'],
  },
];

for (const { kind, setting, good, bad } of kinds) {
  test(`a setting of kind ${kind} takes what is allowed, and says what is where it finds something else`, () => {
    for (const [found, value] of good) assert.deepEqual(readSettings({ X: found }, { x: setting }).x, value);
    for (const found of bad) {
      assert.throws(
        () => readSettings({ X: found }, { x: setting }),
        (error) =>
          isTailraceError(error, 'invalid-settings') && /^X: found .+, allowed is .+$/.test(error.message),
        `${JSON.stringify(found)} passed`,
      );
    }
  });
}

test('an empty variable is an unset one', () => {
  assert.deepEqual(
    { ...readSettings({ A: '', B: '  ' }, { a: port('A', 1), b: text('B') }) },
    { a: 1, b: undefined },
  );
});

test('all problems are reported together, a line each', () => {
  const env = { A: 'x', B: '-5', D: 'ok' };
  const shape = {
    a: port('A', 1),
    nested: group({ b: integer('B', { min: 0, max: 9 }), c: required(text('C'), 'Give a name.') }),
    d: text('D'),
  };
  assert.throws(() => readSettings(env, shape), {
    code: 'invalid-settings',
    message: [
      'A: found "x", allowed is a port from 0 to 65535',
      'B: found "-5", allowed is a whole number from 0 to 9',
      'C: not set. Give a name.',
    ].join('\n'),
  });
});

test('a secret is not shown where it is wrong', () => {
  assert.throws(
    () => readSettings({ KEY: 'abcdefgh' }, { key: hexKey('KEY', 32), other: secret('OTHER') }),
    (error) =>
      isTailraceError(error) && !error.message.includes('abcdefgh') && error.message.startsWith('KEY: '),
  );
});

test('a relation between settings is checked once each by itself is right', () => {
  const shape = { low: integer('LOW', { min: 0, max: 9 }, 0), high: integer('HIGH', { min: 0, max: 9 }, 9) };
  const ordered = ({ low, high }: { low: number; high: number }): string[] =>
    low <= high ? [] : [`LOW: ${low} is above HIGH, ${high}`];
  assert.equal(readSettings({ LOW: '3' }, shape, ordered).low, 3);
  assert.throws(
    () => readSettings({ LOW: '3', HIGH: '2' }, shape, ordered),
    /^TailraceError: LOW: 3 is above HIGH, 2$/,
  );
  assert.throws(
    () => readSettings({ LOW: '3', HIGH: 'x' }, shape, ordered),
    /^TailraceError: HIGH: found "x"[^\n]+$/,
  );
});

test('settings are frozen, in groups too', () => {
  const settings = readSettings({}, { nested: group({ port: port('P', 1) }), list: cidrs('L') });
  for (const part of [settings, settings.nested, settings.list]) assert.ok(Object.isFrozen(part));
});

test('a slip of the hand in a variable is named with the one that was meant', () => {
  const shape = { port: port('TAILRACE_INGEST_PORT', 8080), brokers: brokers('KAFKA_BROKERS') };
  const doubts = (name: string): string[] => doubtfulVariables({ [name]: '1' }, shape);
  for (const name of ['TAILRACE_INGEST_PROT', 'TAILRACE_INJEST_PORT', 'TAILRACE_INGES_PORT']) {
    assert.deepEqual(doubts(name), [`${name}: nothing reads this variable; is TAILRACE_INGEST_PORT meant?`]);
  }
  assert.deepEqual(doubts('KAFKA_BROKER'), [
    'KAFKA_BROKER: nothing reads this variable; is KAFKA_BROKERS meant?',
  ]);
  for (const name of ['TAILRACE_INGEST_PORT', 'TAILRACE_CONTROL_PORT', 'PATH', 'KAFKA_HEAP_OPTS']) {
    assert.deepEqual(doubts(name), []);
  }
});

test('a required variable that is misspelt is told apart from one that is missing', () => {
  const shape = { brokers: required(brokers('KAFKA_BROKERS'), 'Give them.') };
  assert.throws(() => readSettings({ KAFKA_BROKER: 'a:1' }, shape), {
    message:
      'KAFKA_BROKERS: not set. Give them.\n' +
      'KAFKA_BROKER: nothing reads this variable; is KAFKA_BROKERS meant?',
  });
});
