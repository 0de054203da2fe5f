import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTailraceError, TailraceError } from '@tailrace/errors';
import Type, { type TSchema } from 'typebox';
import { formatValue } from './describe.ts';
import { bytes, cidrs, duration, hexKey, httpUrl, port } from './kinds.ts';
import { kafkaSettings } from './kafka.ts';
import { misspelledVariables, readSettings } from './read.ts';
import { serviceSettings, topicSettings } from './shared.ts';

const x = { env: 'X', description: 'An example.' };
const kinds: readonly {
  kind: string;
  schema: TSchema;
  good: readonly (readonly [found: string, value: unknown])[];
  bad: readonly string[];
}[] = [
  {
    kind: 'text',
    schema: Type.String(x),
    good: [
      ['abc', 'abc'],
      ['  abc ', 'abc'],
    ],
    bad: [],
  },
  {
    kind: 'text with a pattern',
    schema: Type.String({ ...x, pattern: '^[a-z]+$', form: 'letters' }),
    good: [['abc', 'abc']],
    bad: ['a1', 'A'],
  },
  {
    kind: 'boolean',
    schema: Type.Boolean(x),
    good: [
      ['true', true],
      ['FALSE', false],
    ],
    bad: ['yes', '1', 'toString'],
  },
  { kind: 'enum', schema: Type.Enum(['a', 'b'], x), good: [['b', 'b']], bad: ['c', 'A'] },
  {
    kind: 'integer',
    schema: Type.Integer({ ...x, minimum: -1, maximum: 10 }),
    good: [
      ['-1', -1],
      ['10', 10],
    ],
    bad: ['-2', '11', '1.5', '1e1', '0x1', 'NaN'],
  },
  {
    kind: 'port',
    schema: port(x),
    good: [
      ['0', 0],
      ['65535', 65_535],
    ],
    bad: ['65536', '-1', '80a', '8080.5'],
  },
  {
    kind: 'duration',
    schema: duration({ ...x, maximum: 3_600_000 }),
    good: [
      ['250ms', 250],
      ['1h', 3_600_000],
    ],
    bad: ['2h', '0s', '10', 's', '1.5s'],
  },
  {
    kind: 'list of durations',
    schema: Type.Array(Type.Integer({ unit: 'ms', minimum: 1 }), { ...x, maxItems: 3, form: 'durations' }),
    good: [
      ['10s, 1m,1m', [10_000, 60_000, 60_000]],
      ['5s', [5_000]],
    ],
    bad: ['10s,', '10s,,1m', '1s,2s,3s,4s', 'soon'],
  },
  {
    kind: 'size in bytes',
    schema: bytes(x),
    good: [
      ['1', 1],
      ['64KB', 65_536],
      ['1mb', 1_048_576],
      ['2GB', 2_147_483_648],
    ],
    bad: ['0', '-1', '1TB', '1.5MB', 'MB', '999999999999GB'],
  },
  {
    kind: 'URL',
    schema: httpUrl(x),
    good: [['http://registry:8081', 'http://registry:8081']],
    bad: ['registry:8081', 'ftp://registry', '//registry'],
  },
  {
    kind: 'list of CIDRs',
    schema: cidrs(x),
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
    kind: 'list of brokers',
    schema: Type.Array(Type.String({ format: 'broker' }), { ...x, form: 'host:port' }),
    good: [['a:9092,b-1.example.com:9093, [::1]:9094', ['a:9092', 'b-1.example.com:9093', '[::1]:9094']]],
    bad: ['a', 'a:', 'a:0', 'a:65536', 'a:9092,', 'http://a:9092'],
  },
  {
    kind: 'hex key',
    schema: hexKey(2, x),
    good: [['00fF', Buffer.from([0, 255])]],
    bad: ['00f', '00fg', '0'],
  },
];

for (const { kind, schema, good, bad } of kinds) {
  test(`a setting of kind ${kind} accepts valid values and reports the accepted form for others`, () => {
    const settings = Type.Object({ x: schema });
    for (const [found, value] of good) assert.deepEqual(readSettings({ X: found }, settings).x, value);
    for (const found of bad) {
      assert.throws(
        () => readSettings({ X: found }, settings),
        (error) =>
          isTailraceError(error, 'invalid-settings') &&
          /^X: invalid value .+; must be .+$/.test(error.message),
        `${JSON.stringify(found)} passed`,
      );
    }
  });
}

test('a message names the limits of a number and of a duration', () => {
  const settings = Type.Object({
    a: Type.Integer({ env: 'A', minimum: 1, maximum: 9 }),
    b: duration({ env: 'B', description: '', minimum: 100, maximum: 3_600_000 }),
    c: duration({ env: 'C', description: '' }),
  });
  assert.throws(() => readSettings({ A: '0', B: '99ms', C: '0s' }, settings), {
    message: [
      'A: invalid value "0"; must be a whole number from 1 to 9',
      'B: invalid value "99ms"; must be a duration such as 250ms, 10s, 1m or 4h, at least 100ms, at most 1h',
      'C: invalid value "0s"; must be a duration such as 250ms, 10s, 1m or 4h',
    ].join('\n'),
  });
});

test('an empty variable counts as unset', () => {
  const settings = Type.Object({
    a: port({ env: 'A', description: '', default: 1 }),
    b: Type.Optional(Type.String({ env: 'B' })),
  });
  assert.deepEqual({ ...readSettings({ A: '', B: '  ' }, settings) }, { a: 1 });
});

test('all problems are reported together, one per line', () => {
  const settings = Type.Object({
    a: port({ env: 'A', description: '', default: 1 }),
    nested: Type.Object({
      b: Type.Integer({ env: 'B', minimum: 0, maximum: 9 }),
      c: Type.String({ env: 'C', hint: 'Set it to a name.' }),
    }),
    d: Type.Optional(Type.String({ env: 'D' })),
  });
  assert.throws(() => readSettings({ A: 'x', B: '-5', D: 'ok' }, settings), {
    code: 'invalid-settings',
    message: [
      'A: invalid value "x"; must be a port from 0 to 65535',
      'B: invalid value "-5"; must be a whole number from 0 to 9',
      'C: not set. Set it to a name.',
    ].join('\n'),
  });
});

test('the password in an invalid URL is not shown', () => {
  const settings = Type.Object({ url: httpUrl({ env: 'URL', description: '' }) });
  assert.throws(() => readSettings({ URL: 'htp://user:hunter2@host' }, settings), {
    message: 'URL: invalid value "htp://(not shown)@host"; must be a full URL with http or https',
  });
});

test('an invalid secret is not shown', () => {
  const settings = Type.Object({ key: hexKey(32, { env: 'KEY', description: '' }) });
  assert.throws(
    () => readSettings({ KEY: 'abcdefgh' }, settings),
    (error) =>
      isTailraceError(error) && !error.message.includes('abcdefgh') && error.message.startsWith('KEY: '),
  );
});

test('a relation between settings is checked only if each of them is valid', () => {
  const low = Type.Integer({ env: 'LOW', minimum: 0, maximum: 9, default: 0 });
  const high = Type.Integer({ env: 'HIGH', minimum: 0, maximum: 9, default: 9 });
  const range = Type.Decode(Type.Object({ low, high }), (values) => {
    if (values.low <= values.high) return values;
    throw new TailraceError('invalid-settings', `LOW: ${values.low} is above HIGH, ${values.high}`);
  });
  const settings = Type.Object({ range, port: port({ env: 'PORT', description: '', default: 1 }) });
  assert.equal(readSettings({ LOW: '3' }, settings).range.low, 3);
  assert.throws(() => readSettings({ LOW: '3', HIGH: '2', PORT: 'x' }, settings), {
    message: 'LOW: 3 is above HIGH, 2\nPORT: invalid value "x"; must be a port from 0 to 65535',
  });
  assert.throws(
    () => readSettings({ LOW: '3', HIGH: 'x' }, settings),
    /^TailraceError: HIGH: invalid value "x"[^\n]+$/,
  );
});

test('settings and their groups and lists are frozen', () => {
  const settings = readSettings(
    {},
    Type.Object({
      nested: Type.Object({ port: port({ env: 'P', description: '', default: 1 }) }),
      list: cidrs({ env: 'L', description: '' }),
    }),
  );
  for (const part of [settings, settings.nested, settings.list]) assert.ok(Object.isFrozen(part));
});

test('a misspelled variable is reported with the name that is close to it', () => {
  const settings = Type.Object({
    port: port({ env: 'TAILRACE_INGEST_PORT', description: '', default: 8080 }),
    brokers: Type.Object({ list: Type.String({ env: 'KAFKA_BROKERS' }) }),
  });
  const warnings = (name: string): string[] => misspelledVariables({ [name]: '1' }, settings);
  for (const name of ['TAILRACE_INGEST_PROT', 'TAILRACE_INJEST_PORT', 'TAILRACE_INGES_PORT']) {
    assert.deepEqual(warnings(name), [`${name}: unknown variable; did you mean TAILRACE_INGEST_PORT?`]);
  }
  assert.deepEqual(warnings('KAFKA_BROKER'), ['KAFKA_BROKER: unknown variable; did you mean KAFKA_BROKERS?']);
  for (const name of ['TAILRACE_INGEST_PORT', 'TAILRACE_CONTROL_PORT', 'PATH', 'KAFKA_HEAP_OPTS']) {
    assert.deepEqual(warnings(name), []);
  }
});

test('the file of a secret is a known variable, and a file for another setting is reported', () => {
  const settings = Type.Object({
    key: Type.Optional(Type.String({ env: 'TAILRACE_KEY', writeOnly: true })),
    brokers: Type.Optional(Type.String({ env: 'KAFKA_BROKERS' })),
  });
  const warnings = (name: string): string[] => misspelledVariables({ [name]: '1' }, settings);
  assert.deepEqual(warnings('TAILRACE_KEY_FILE'), []);
  assert.deepEqual(warnings('TAILRACE_KEY_FIEL'), [
    'TAILRACE_KEY_FIEL: unknown variable; did you mean TAILRACE_KEY_FILE?',
  ]);
  assert.deepEqual(warnings('KAFKA_BROKERS_FILE'), [
    'KAFKA_BROKERS_FILE: only secrets are read from files; set KAFKA_BROKERS.',
  ]);
});

test('variables of OpenTelemetry for metrics and logs are not taken for misspelled ones for traces', () => {
  const settings = Type.Object(serviceSettings({ metricsPort: 9464 }));
  const env = Object.fromEntries(
    [
      'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
      'OTEL_EXPORTER_OTLP_LOGS_HEADERS',
      'OTEL_METRICS_EXPORTER',
      'OTEL_LOGS_EXPORTER',
      'OTEL_PROPAGATORS',
      'OTEL_NODE_RESOURCE_DETECTORS',
      'OTEL_LOG_LEVEL',
    ].map((name) => [name, 'x']),
  );
  assert.deepEqual(misspelledVariables(env, settings), []);
  assert.equal(misspelledVariables({ OTEL_EXPORTER_OTLP_ENDPONT: 'x' }, settings).length, 1);
});

test('a required variable that is misspelled is reported as missing and as misspelled', () => {
  const settings = Type.Object({ kafka: kafkaSettings('test') });
  assert.throws(() => readSettings({ KAFKA_BROKER: 'a:1' }, settings), {
    message:
      'KAFKA_BROKERS: not set. Set it to the bootstrap servers as host:port, separated by commas, such as localhost:9092.\n' +
      'KAFKA_BROKER: unknown variable; did you mean KAFKA_BROKERS?',
  });
});

test('a default is formatted as the text that sets it', () => {
  const size = bytes({ env: 'X', description: '' });
  for (const text of ['1', '1000', '64KB', '112MB', '1GB']) {
    const { size: value } = readSettings({ X: text }, Type.Object({ size }));
    assert.equal(formatValue({ env: 'X', unit: 'bytes' }, value), text);
  }
  const { retryScheduleMs } = topicSettings().properties;
  assert.equal(
    formatValue(retryScheduleMs as never, readSettings({}, Type.Object({ retryScheduleMs })).retryScheduleMs),
    '10s,1m,5m,20m,1h,1h,1h,20m',
  );
});
