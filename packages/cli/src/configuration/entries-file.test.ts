import assert from 'node:assert/strict';
import test from 'node:test';
import {
  builtInSource,
  maskDestination,
  maskDestinationForReaders,
  maskSource,
  newSigningKey,
  parseConfiguration,
  type Destination,
  type Source,
} from '@tailrace/config';
import { fileOf } from './entries-file.ts';

const sources: Source[] = [{ id: 'web', name: 'a\u009bb: "c"\t', writeKeys: ['wk_web'], enabled: true }];
const hook = (secret: string): Destination['settings'] => ({
  sharedSecret: secret,
  previousSharedSecret: `${secret} before`,
  webhooks: [
    {
      url: 'https://a.example.com/',
      headers: { Authorization: secret, 'X-Open': 'open' },
      secretHeaders: ['authorization'],
    },
    { url: 'https://b.example.com/?a=1', headers: { 'X-Key': `${secret} 2` }, secretHeaders: ['X-Key'] },
  ],
});
const destinations: Destination[] = [
  { id: 'a-b', type: 'Webhooks', enabled: true, sources: ['web'], settings: hook('first') },
  { id: 'a_b', type: 'Webhooks', enabled: false, sources: [], settings: hook('second') },
  {
    id: '1crm',
    type: 'Webhooks',
    enabled: true,
    sources: [],
    settings: { sharedSecret: 'third', webhooks: [{ url: 'https://c.example.com/' }] },
  },
];

const env = {
  A_B_SHARED_SECRET: 'first',
  A_B_PREVIOUS_SHARED_SECRET: 'first before',
  A_B_WEBHOOKS_1_HEADERS_AUTHORIZATION: 'first',
  A_B_WEBHOOKS_1_HEADERS_X_OPEN: 'open',
  A_B_WEBHOOKS_2_HEADERS_X_KEY: 'first 2',
  A_B_SHARED_SECRET_2: 'second',
  A_B_PREVIOUS_SHARED_SECRET_2: 'second before',
  A_B_WEBHOOKS_1_HEADERS_AUTHORIZATION_2: 'second',
  A_B_WEBHOOKS_1_HEADERS_X_OPEN_2: 'open',
  A_B_WEBHOOKS_2_HEADERS_X_KEY_2: 'second 2',
  _1CRM_SHARED_SECRET: 'third',
};
const options = { fileName: 'out.yaml', env, readFile: () => Buffer.alloc(0) };

test('entries as a file are applied as the same entries, once the variables of the comment are set', () => {
  const lines = fileOf({ sources, destinations: destinations.map(maskDestination) });
  const { sources: readSources, destinations: readDestinations } = parseConfiguration(
    lines.join('\n'),
    options,
  );
  assert.deepEqual({ sources: readSources, destinations: readDestinations }, { sources, destinations });
  const listed = lines.filter((line) => /^# {3}\w+$/.test(line)).map((line) => line.slice(4));
  assert.deepEqual(listed.sort(), Object.keys(env).sort());
});

test('a file has ed25519 without the keys, which nobody could set', () => {
  const [destination] = destinations;
  assert.ok(destination);
  const settings = {
    ...destination.settings,
    ed25519: { key: newSigningKey(), previousKey: newSigningKey() },
  };
  const lines = fileOf({ destinations: [maskDestination({ ...destination, settings })] });
  const { destinations: read } = parseConfiguration(lines.join('\n'), options);
  assert.deepEqual(read, [{ ...destination, settings: { ...destination.settings, ed25519: {} } }]);
});

test('a file whose variables are not set is refused, so that no secret is overwritten', () => {
  const text = fileOf({ destinations: destinations.map(maskDestination) }).join('\n');
  assert.throws(
    () => parseConfiguration(text, { ...options, env: {} }),
    /A_B_SHARED_SECRET, which is not set/,
  );
});

test('entries without secrets have no comment', () => {
  assert.deepEqual(fileOf({ sources: [{ id: 'web', writeKeys: ['wk'], enabled: true }] }), [
    'sources:',
    '  - id: web',
    '    writeKeys:',
    '      - wk',
    '    enabled: true',
  ]);
});

test('what a read-only token sees is written with references in place of write keys and URLs with a query, too', () => {
  const lines = fileOf({
    sources: sources.map(maskSource),
    destinations: destinations.slice(0, 1).map(maskDestinationForReaders),
  });
  const readEnv = { ...env, WEB_WRITE_KEYS_1: 'wk_web', A_B_WEBHOOKS_2_URL: 'https://b.example.com/?a=1' };
  const read = parseConfiguration(lines.join('\n'), { ...options, env: readEnv });
  assert.deepEqual([read.sources, read.destinations], [sources, destinations.slice(0, 1)]);
});

test('a text that is no reference, and looks like one, is escaped', () => {
  const webhooks = [{ url: 'https://a.example.com/', headers: { 'X-Open': 'env:X' } }];
  const destination: Destination = {
    id: 'a',
    type: 'Webhooks',
    enabled: true,
    sources: [],
    settings: { webhooks },
  };
  const lines = fileOf({ destinations: [destination] });
  assert.deepEqual(parseConfiguration(lines.join('\n'), options).destinations, [destination]);
});

test('the built-in source is left out, because apply refuses it', () => {
  const lines = fileOf({ sources: [builtInSource, ...sources] });
  assert.deepEqual(parseConfiguration(lines.join('\n'), options).sources, sources);
});
