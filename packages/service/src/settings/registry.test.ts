import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RegistrySettings } from '@tailrace/registry';
import Type from 'typebox';
import { certificates } from '../../../../test/support/receivers/certificates.ts';
import { readSettings } from './read.ts';
import { registrySettings } from './registry.ts';

const schema = Type.Object({ registry: registrySettings() });
function read(env: Record<string, string>): RegistrySettings | undefined {
  return readSettings(
    Object.fromEntries(Object.entries(env).map(([n, v]) => [`SCHEMA_REGISTRY_${n}`, v])),
    schema,
  ).registry;
}
const URL = 'https://registry.example/v7/';
const url = 'https://registry.example/v7';

test('there is no registry without a URL', () => {
  assert.equal(read({}), undefined);
  assert.throws(() => read({ TOKEN: 'abc' }), /SCHEMA_REGISTRY_URL: not set, but other settings/);
});

test('credentials are user name and password, in settings or in the URL, or a token', () => {
  assert.deepEqual(read({ URL }), { url });
  const credentials = { username: 'shop', password: 'p@ss' };
  assert.deepEqual(read({ URL, USERNAME: 'shop', PASSWORD: 'p@ss' }), { url, credentials });
  assert.deepEqual(read({ URL: 'https://shop:p%40ss@registry.example/v7' }), { url, credentials });
  assert.deepEqual(read({ URL, TOKEN: 'abc' }), { url, credentials: { token: 'abc' } });
});

test('incomplete and contradictory credentials are refused', () => {
  assert.throws(() => read({ URL, PASSWORD: 'x' }), /SCHEMA_REGISTRY_USERNAME: not set/);
  assert.throws(() => read({ URL, USERNAME: 'x' }), /SCHEMA_REGISTRY_PASSWORD: not set/);
  const both = { USERNAME: 'a', PASSWORD: 'b' };
  assert.throws(() => read({ URL, ...both, TOKEN: 'c' }), /only one kind of credentials/);
  assert.throws(() => read({ URL: 'https://a:b@registry.example', ...both }), /only one kind of credentials/);
});

test('a certificate authority requires https', () => {
  const { authority } = certificates();
  assert.equal(read({ URL, CA: authority })?.ca, authority.trim());
  assert.throws(
    () => read({ URL: 'http://a', CA: authority }),
    /SCHEMA_REGISTRY_CA: set for a URL without TLS/,
  );
});
