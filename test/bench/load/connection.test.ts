import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'node:test';
import { text } from 'node:stream/consumers';
import { connect, parseAnswer, postHead } from './connection.ts';

async function serve(listener: RequestListener): Promise<{ port: number } & AsyncDisposable> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

test('a real server gets the request unchanged, and its answers arrive in order on one connection', async () => {
  const connections = new Set<unknown>();
  await using server = await serve((request, response) => {
    connections.add(request.socket);
    void text(request).then((body) => {
      const { method, url, headers } = request;
      const answer = JSON.stringify({ method, url, authorization: headers.authorization, body });
      response.writeHead(201, { 'content-length': answer.length }).end(answer);
    });
  });
  const connection = await connect(server.port);
  for (const body of ['one', 'two']) {
    const head = postHead('/v1/track', { authorization: 'Basic abc' }, body.length);
    const answer = await connection.exchange(head + body);
    assert.equal(answer.status, 201);
    assert.deepEqual(JSON.parse(answer.body), {
      method: 'POST',
      url: '/v1/track',
      authorization: 'Basic abc',
      body,
    });
  }
  assert.equal(connections.size, 1);
  connection.close();
});

test('a connection that the server closes rejects the request in flight', async () => {
  await using server = await serve((_request, response) => response.destroy());
  const connection = await connect(server.port);
  await assert.rejects(connection.exchange(postHead('/', {}, 0)), /closed/);
  await assert.rejects(connection.exchange(postHead('/', {}, 0)), /closed/);
});

test('an answer in pieces is incomplete until its last byte', () => {
  const whole = 'HTTP/1.1 200 OK\r\nContent-Length: 16\r\nDate: today\r\n\r\n{"success":true}';
  for (let length = 0; length < whole.length; length += 1) {
    assert.equal(parseAnswer(whole.slice(0, length)), undefined);
  }
  assert.deepEqual(parseAnswer(whole), { status: 200, body: '{"success":true}' });
});

test('an answer without a length, or with something after it, is an error', () => {
  assert.throws(() => parseAnswer('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'), /Content-Length/);
  assert.throws(() => parseAnswer('HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab'), /more than/);
});
