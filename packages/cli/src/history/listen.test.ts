/** `tailrace listen` against a service that sends what the test says. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import test from 'node:test';
import { collect } from '@tailrace/testing';
import { runCli } from '../run.ts';
import { unattended } from '../terminal/terminal.ts';

async function serve(onRequest: RequestListener) {
  const server = createServer(onRequest).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, [Symbol.dispose]: close };
}

const lineOf = (nth: number): string => {
  const copy = { deliveryId: `d-${nth}`, sourceId: 'web', type: 'track', event: 'Ordered', userKey: 'ada' };
  const request = { method: 'PUT', headers: { 'X-Signature': `s-${nth}` }, body: `{"nth":${nth}}` };
  return `${JSON.stringify({ ...copy, ...request })}\n`;
};

/** A control service whose streams the test writes. */
async function startControl(destination: object = {}) {
  const streams = collect<ServerResponse>('the streams', () => 'a stream');
  const server = await serve(({ url }, response) => {
    if (url?.includes('/copies/stream') !== true) {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ id: 'crm', enabled: true, sources: ['web'], ...destination }));
      return;
    }
    response.writeHead(200, { 'content-type': 'application/x-ndjson' }).write('\n');
    streams.add(response);
  });
  return { ...server, streams };
}

/** Runs the command; `interrupt` is Ctrl-C. */
function start(controlUrl: string, args: readonly string[]) {
  const out = collect<string>('the output', (line) => line);
  const err = collect<string>('the errors', (line) => line);
  const interruption = new AbortController();
  const ended = runCli({
    argv: ['listen', '--destination', 'crm', ...args],
    env: { TAILRACE_URL: controlUrl, TAILRACE_API_TOKEN: 'token-of-this-test' },
    out: out.add,
    err: err.add,
    terminal: { ...unattended, interruption: () => interruption.signal },
  });
  return { out, err, ended, interrupt: () => interruption.abort() };
}

test('requests begin in the order of the deliveries, ten at a time, and answers are shown in this order', async () => {
  using control = await startControl();
  const arrived = collect<{ readonly body: string; readonly response: ServerResponse }>(
    'requests',
    ({ body }) => body,
  );
  using local = await serve((request, response) => {
    void buffer(request).then((body) => {
      const { method = '', url = '', headers } = request;
      arrived.add({ body: `${method} ${url} ${String(headers['x-signature'])} ${String(body)}`, response });
    });
  });
  const { out, ended } = start(control.url, [
    '--forward',
    `${local.url}/hook`,
    '--count',
    '12',
    '-o',
    'json',
  ]);
  const [stream] = await control.streams.waitFor(1);
  for (let nth = 0; nth < 12; nth += 1) stream?.write(lineOf(nth));
  const first = await arrived.waitFor(10);
  for (const { body } of first) assert.match(body, /^PUT \/hook s-(\d) \{"nth":\1\}$/);
  const oldest = first.find(({ body }) => body.includes('s-0'));
  for (const one of first) if (one !== oldest) one.response.writeHead(500).end('no\nthanks');
  assert.deepEqual([arrived.items.length, out.items], [10, []], 'all wait for the oldest');
  oldest?.response.writeHead(204).end();
  for (const { response } of (await arrived.waitFor(12)).slice(10)) response.end();
  assert.equal(await ended, 0);
  const shown = out.items.map(
    (line) => JSON.parse(line) as { deliveryId: string; status: number; reason?: string },
  );
  assert.deepEqual(
    shown.map(({ deliveryId, status }) => [deliveryId, status]),
    Array.from({ length: 12 }, (_, nth) => [`d-${nth}`, nth === 0 ? 204 : nth < 10 ? 500 : 200]),
  );
  assert.partialDeepStrictEqual(shown[1], {
    reason: 'server-error',
    exchange: { responseBody: 'no\nthanks' },
  });
});

test('a lost connection is opened again, what was missed is counted, and Ctrl-C ends it with what is in flight', async () => {
  using control = await startControl({ ordering: 'user', enabled: false, sources: [] });
  const arrived = collect<string>('requests', (body) => body);
  using local = await serve((request) => {
    void buffer(request).then((body) => arrived.add(String(body)));
  });
  const { out, err, ended, interrupt } = start(control.url, ['--forward', local.url]);
  const [stream] = await control.streams.waitFor(1);
  stream?.end('{"missed":3}\n');
  const [, again] = await control.streams.waitFor(2);
  again?.write(lineOf(1) + lineOf(2));
  await arrived.waitFor(1);
  interrupt();
  assert.equal(await ended, 0);
  assert.deepEqual([arrived.items, out.items], [['{"nth":1}'], []]);
  assert.deepEqual(err.items, [
    `tailrace: Forwarding the deliveries of crm to ${local.url}/. Press Ctrl-C to end.`,
    'tailrace: The destination crm is disabled and gets none: tailrace enable destination crm',
    'tailrace: No source is connected to it: tailrace connect crm <source>',
    'tailrace: 3 deliveries not forwarded: there are too many for this client.',
    'tailrace: Connection lost, reconnecting.',
    'tailrace: Connected again.',
  ]);
});

test('a URL that is none, and a server that is not there, are named with what to do', async () => {
  using control = await startControl();
  const { err, ended } = start(control.url, ['--forward', 'localhost:3000/hook']);
  assert.equal(await ended, 2);
  assert.match(
    err.items.join('\n'),
    /--forward must be a URL with http or https, such as http:\/\/localhost:3000/,
  );
  const gone = await serve(() => undefined);
  gone[Symbol.dispose]();
  const refused = start(control.url, ['--forward', gone.url, '--count', '2']);
  const [stream] = await control.streams.waitFor(1);
  stream?.write(lineOf(1) + lineOf(2));
  assert.equal(await refused.ended, 0);
  assert.match(
    refused.out.items.join('\n'),
    /^\S+Z {2}connection-refused .*track Ordered {2}ada {2}\d+ ms$/m,
  );
  const hints = refused.err.items.filter((line) =>
    line.includes(`Nothing listens at ${gone.url}. Start your server`),
  );
  assert.equal(hints.length, 1);
});
