/** Requests to a token server, which is a small HTTP server here. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { isTailraceError } from '@tailrace/errors';
import { requestToken } from './token-request.ts';

async function startServer(
  answer: (request: IncomingMessage, response: ServerResponse, body: string) => void,
) {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      answer(request, response, body);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    tokenUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const client = { clientId: 'tail race', clientSecret: 'hunter2:%' };

async function failure(tokenUrl: string, timeoutMs?: number): Promise<string> {
  const error: unknown = await requestToken({ ...client, tokenUrl }, timeoutMs).catch(
    (error: unknown) => error,
  );
  assert.ok(isTailraceError(error, 'kafka-token-unavailable'), String(error));
  assert.doesNotMatch(error.message, /hunter2/);
  return error.message;
}

test('a token is requested with the client credentials grant, and authenticates with HTTP Basic', async () => {
  let received: unknown;
  await using server = await startServer((request, response, body) => {
    received = { method: request.method, authorization: request.headers.authorization, body };
    response.end('{"access_token":"abc","expires_in":60}');
  });
  const token = await requestToken({ ...client, tokenUrl: server.tokenUrl, scope: 'kafka read' });
  assert.deepEqual(token, { value: 'abc', lifetimeMs: 60_000 });
  assert.deepEqual(received, {
    method: 'POST',
    // As RFC 6749 requires: encoded as a form before it is encoded for HTTP Basic.
    authorization: `Basic ${btoa('tail+race:hunter2%3A%25')}`,
    body: 'grant_type=client_credentials&scope=kafka+read',
  });
});

test('the lifetime is that of the JWT where the answer has none', async () => {
  const exp = Math.floor(Date.now() / 1_000) + 90;
  const jwt = `e30.${Buffer.from(JSON.stringify({ exp })).toString('base64url')}.c2ln`;
  await using server = await startServer((_request, response) => {
    response.end(JSON.stringify({ access_token: jwt }));
  });
  const { lifetimeMs } = await requestToken({ ...client, tokenUrl: server.tokenUrl });
  assert.ok(lifetimeMs > 80_000 && lifetimeMs <= 90_000, String(lifetimeMs));
});

test('a server that refuses the client is named, with its reason', async () => {
  await using server = await startServer((_request, response) => {
    response.writeHead(401).end('{"error":"invalid_client","error_description":"Unknown\\nclient."}');
  });
  assert.equal(
    await failure(server.tokenUrl),
    `The token server ${server.tokenUrl} refuses a token with status 401 (invalid_client: Unknown?client). ` +
      'Check KAFKA_OAUTH_TOKEN_URL, KAFKA_OAUTH_CLIENT_ID, KAFKA_OAUTH_CLIENT_SECRET and KAFKA_OAUTH_SCOPE.',
  );
});

test('a server that hangs, before or within its answer, ends in time', async () => {
  for (const begin of [false, true]) {
    await using server = await startServer((_request, response) => {
      if (begin) response.write('{"access_token":');
    });
    assert.match(await failure(server.tokenUrl, 100), /did not answer within 100 ms/);
  }
});

test('an answer that is no token, too large, a redirect, or no answer at all is a failure', async () => {
  const answers: [(response: ServerResponse) => void, RegExp][] = [
    [(response) => response.end('<html>'), /without a valid access_token/],
    [(response) => response.end('{"access_token":"a\\u0001b"}'), /without a valid access_token/],
    [(response) => response.end('a'.repeat(300_000)), /too large/],
    [(response) => response.writeHead(302, { location: '/other' }).end(), /refuses a token with status 302/],
    [(response) => response.destroy(), /cannot be used: socket hang up/],
  ];
  for (const [answer, expected] of answers) {
    await using server = await startServer((_request, response) => {
      answer(response);
    });
    assert.match(await failure(server.tokenUrl), expected);
  }
  assert.match(await failure('http://127.0.0.1:1/token'), /cannot be used: connect ECONNREFUSED/);
});
