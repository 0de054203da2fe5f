/** Credentials and TLS of a registry, which is a small HTTPS server here. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { certificates } from '../../../test/support/receivers/certificates.ts';
import { connectRegistry, reasonOf, type RegistrySettings } from './client.ts';

/** Accepts requests with this authorization only. */
async function startServer(authorization: string, certificate = certificates().trusted) {
  const server = createServer(certificate, (request, response) => {
    response.writeHead(request.headers.authorization === authorization ? 200 : 401, {
      'content-type': 'application/json',
    });
    response.end(request.url === '/subjects' ? '["a"]' : '{"schema":"\\"string\\""}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    settings: { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}` },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const ca = certificates().authority;
const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
const accepted: [string, RegistrySettings['credentials']][] = [
  [basic('shöp:p:ss'), { username: 'shöp', password: 'p:ss' }],
  ['Bearer abc', { token: 'abc' }],
];

for (const [authorization, credentials] of accepted) {
  test(`all requests have the credentials ${Object.keys(credentials ?? {}).join(' and ')}`, async () => {
    await using server = await startServer(authorization);
    const { client, isRegistry } = connectRegistry({
      ...server.settings,
      ca,
      ...(credentials && { credentials }),
    });
    assert.ok(await client.getSchema(1));
    assert.equal(await isRegistry(), true);
  });
}

test('refused credentials are the reason of a failure, without the credentials', async () => {
  await using server = await startServer('Bearer abc');
  const { client } = connectRegistry({ ...server.settings, ca, credentials: { token: 'wrong' } });
  const error: unknown = await client.getSchema(1).catch((error: unknown) => error);
  assert.equal(reasonOf(error), 'it refuses the credentials with status 401');
});

test('a registry whose certificate is from an unknown authority is not used', async () => {
  await using server = await startServer('Bearer abc', certificates().unknownAuthority);
  const { client } = connectRegistry({ ...server.settings, credentials: { token: 'abc' } });
  await assert.rejects(client.getSchema(1), /certificate|verify/);
});
