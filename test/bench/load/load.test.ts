import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'node:test';
import { buffer } from 'node:stream/consumers';
import { numberOf } from './calls.ts';
import { createLoad, type Load } from './load.ts';

/** A load generator, and a server that reads each call and leaves the answer to `listener`. */
async function loadOn(
  listener: (...args: [...Parameters<RequestListener>, number]) => void,
): Promise<{ load: Load } & AsyncDisposable> {
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      listener(request, response, numberOf(body));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    load: createLoad({ port, path: '/', headers: {} }),
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

const accept = { 'content-length': '0' };

test('a closed loop sends every number once, and keeps the given number of calls in flight', async () => {
  const numbers: number[] = [];
  let waiting: (() => void)[] = [];
  await using server = await loadOn((_request, response, number) => {
    numbers.push(number);
    waiting.push(() => response.writeHead(200, accept).end());
    // Too few calls in flight would wait for ever here; too many would be answered out of step.
    if (waiting.length < 4) return;
    const ready = waiting;
    waiting = [];
    setImmediate(() => {
      assert.equal(waiting.length, 0, 'a fifth call is in flight');
      for (const answer of ready) answer();
    });
  });
  await server.load.closedLoop({ count: 8, inFlight: 4 });
  const sent = await server.load.closedLoop({ count: 40, inFlight: 4 });
  assert.equal(sent.first, 8);
  assert.equal(server.load.next, 48);
  assert.deepEqual(
    numbers.toSorted((a, b) => a - b),
    Array.from({ length: 48 }, (_, index) => index),
  );
  for (let index = 0; index < sent.count; index += 1) {
    assert.ok((sent.acceptedAt[index] ?? NaN) >= (sent.sentAt[index] ?? NaN));
  }
});

test('an open loop continues to send while no call is answered', async () => {
  const waiting: (() => void)[] = [];
  await using server = await loadOn((_request, response) => {
    waiting.push(() => response.writeHead(200, accept).end());
    if (waiting.length === 40) for (const answer of waiting) answer();
  });
  const sent = await server.load.openLoop({ count: 40, ratePerSecond: 1_000 });
  assert.ok(Math.min(...sent.acceptedAt) >= Math.max(...sent.sentAt), 'no answer came before the last call');
  for (let index = 0; index < sent.count; index += 1) {
    assert.ok((sent.sentAt[index] ?? NaN) >= (sent.dueAt[index] ?? NaN), 'no call is sent before it is due');
  }
});

test('an answer that is not 200 ends the run with an error that shows it', async () => {
  await using server = await loadOn((_request, response, number) => {
    response.writeHead(number === 5 ? 503 : 200, { 'content-length': 4 }).end('busy');
  });
  await assert.rejects(server.load.closedLoop({ count: 100, inFlight: 1 }), /call 5 was answered 503: busy/);
});
