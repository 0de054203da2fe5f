/** How to reach a schema registry with Confluent's interface. */
import { TailraceError } from '@tailrace/errors';
import type { RegistrySettings } from '@tailrace/registry';
import Type from 'typebox';
import { httpUrl } from './kinds.ts';
import { certificates } from './pem.ts';

const variables = Type.Object({
  url: Type.Optional(
    httpUrl({
      env: 'SCHEMA_REGISTRY_URL',
      description:
        'Schema registry with the interface of Confluent; user name and password may be in the URL.',
    }),
  ),
  username: Type.Optional(
    Type.String({ env: 'SCHEMA_REGISTRY_USERNAME', description: 'User name for the schema registry.' }),
  ),
  password: Type.Optional(
    Type.String({
      env: 'SCHEMA_REGISTRY_PASSWORD',
      writeOnly: true,
      description: 'Password for the schema registry.',
    }),
  ),
  token: Type.Optional(
    Type.String({
      env: 'SCHEMA_REGISTRY_TOKEN',
      pattern: '^[!-~]+$',
      form: 'a bearer token',
      writeOnly: true,
      description: 'Bearer token for the schema registry, instead of user name and password.',
    }),
  ),
  ca: Type.Optional(
    certificates({
      env: 'SCHEMA_REGISTRY_CA',
      description: 'Certificate authority of the schema registry, in PEM, or a file that contains it.',
    }),
  ),
});

/** Undefined without SCHEMA_REGISTRY_URL. */
export function registrySettings() {
  return Type.Decode(variables, ({ url, username, password, token, ca }): RegistrySettings | undefined => {
    const problems: string[] = [];
    const parsed = url === undefined ? undefined : new URL(url);
    const inUrl = parsed !== undefined && (parsed.username !== '' || parsed.password !== '');
    if (url === undefined && [username, password, token, ca].some((value) => value !== undefined)) {
      problems.push('SCHEMA_REGISTRY_URL: not set, but other settings of the schema registry are.');
    }
    if ((username === undefined) !== (password === undefined)) {
      const missing = username === undefined ? 'USERNAME' : 'PASSWORD';
      problems.push(`SCHEMA_REGISTRY_${missing}: not set. Set user name and password together.`);
    }
    if ([username, token, inUrl || undefined].filter((value) => value !== undefined).length > 1) {
      problems.push(
        'SCHEMA_REGISTRY_URL: only one kind of credentials is possible: user name and password, ' +
          'a token, or user name and password in the URL.',
      );
    }
    if (ca !== undefined && parsed?.protocol === 'http:') {
      problems.push('SCHEMA_REGISTRY_CA: set for a URL without TLS. Use https, or unset it.');
    }
    if (problems.length > 0) throw new TailraceError('invalid-settings', problems.join('\n'));
    if (parsed === undefined) return undefined;
    const found = { username: username ?? parsed.username, password: password ?? parsed.password };
    if (inUrl) {
      found.username = decodeURIComponent(parsed.username);
      found.password = decodeURIComponent(parsed.password);
    }
    const credentials = token !== undefined ? { token } : found.username === '' ? undefined : found;
    return {
      url: `${parsed.origin}${parsed.pathname.replace(/\/+$/, '')}`,
      ...(credentials && { credentials }),
      ...(ca !== undefined && { ca }),
    };
  });
}
