import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { test } from 'node:test';
import { clientError, closeServer, closingResponse, errorResponses, listen } from './server.ts';

test('a request that arrives too slowly is a timeout, and other client errors are malformed requests', () => {
  const withCode = (code: string) => Object.assign(new Error(code), { code });
  assert.equal(clientError(withCode('ERR_HTTP_REQUEST_TIMEOUT')).status, 408);
  assert.equal(clientError(withCode('HPE_INVALID_METHOD')).status, 400);
});

test('a closing response is a complete HTTP response', () => {
  assert.equal(
    closingResponse(408, ['content-length', '2'], '{}'),
    'HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}',
  );
});

test('errors are described by status, with Retry-After for 429 and 503', () => {
  const responses = errorResponses(
    ['overloaded', 'kafka-unavailable', 'rate-limited', 'malformed-json', 'malformed-request'],
    { $ref: '#/Error' },
    { description: 'seconds' },
  );
  assert.deepEqual(Object.keys(responses).sort(), ['400', '429', '503']);
  assert.match(responses['503']?.description ?? '', /^`overloaded`: .+; `kafka-unavailable`: /);
  assert.deepEqual(responses['503']?.headers, { 'Retry-After': { description: 'seconds' } });
  assert.equal(responses['400']?.headers, undefined);
});

test('closing waits for the requests in flight, and closes their connections after the timeout', async () => {
  const server = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const request = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
  const failed = once(request, 'error');
  await once(server, 'request');
  await closeServer(server, 10);
  const [error] = (await failed) as [NodeJS.ErrnoException];
  assert.equal(error.code, 'ECONNRESET');
});

test('closing does not wait for a connection that has sent nothing, as browsers open them in advance', async () => {
  const server = createServer(() => undefined);
  const port = await listen(server, { port: 0, host: '127.0.0.1' }, 'PORT');
  const accepted = once(server, 'connection');
  const silent = connect(port, '127.0.0.1').resume();
  await accepted;
  const ended = once(silent, 'close');
  await closeServer(server, 2 ** 31 - 1);
  await ended;
});
