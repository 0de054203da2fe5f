import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { openApi } from './client.ts';
import { linesOf } from './lines.ts';

test('a stream is closed when nobody reads it further', async () => {
  const closed = Promise.withResolvers<undefined>();
  await using server = createServer((_request, response) => {
    response.once('close', () => {
      closed.resolve(undefined);
    });
    response.writeHead(200, { 'content-type': 'application/x-ndjson' }).write('{"n":1}\n{"n":2}\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const api = openApi({ env: { TAILRACE_URL: url, TAILRACE_API_TOKEN: 'token-of-this-test' } });
  const stream = api.follow('/v1/attempts/stream', {}, new AbortController().signal, () => undefined);
  for await (const first of stream) {
    assert.deepEqual(first, { n: 1 });
    break;
  }
  await closed.promise;
});

test('a read whose connection is closed is sent again, once; a change is not', async () => {
  let closing = 1;
  const asked: (string | undefined)[] = [];
  const server = createServer(({ method, socket }, response) => {
    asked.push(method);
    if (closing > 0) socket.destroy();
    else response.end('{"items":[]}');
    closing -= 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const api = openApi({ env: { TAILRACE_URL: url, TAILRACE_API_TOKEN: 'token-of-this-test' } });
  try {
    assert.deepEqual(await api.get('/v1/sources'), { items: [] });
    closing = 2;
    await assert.rejects(api.get('/v1/sources'), { code: 'control-unavailable' });
    closing = 1;
    await assert.rejects(api.send('POST', '/v1/deletions'), { code: 'control-unavailable' });
    assert.deepEqual(asked, ['GET', 'GET', 'GET', 'GET', 'POST']);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test('a text with a line separator of Unicode is no end of a line, wherever the bytes are cut', async () => {
  const text = `${JSON.stringify({ event: 'a\u2028b\u2029ü' })}\n\n{"n":2}`;
  const bytes = Array.from(Buffer.from(text), (byte) => Uint8Array.of(byte));
  const lines: string[] = [];
  for await (const line of linesOf(Readable.from(bytes))) lines.push(line);
  assert.deepEqual(lines, text.split('\n'));
});
