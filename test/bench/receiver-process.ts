/**
 * The receiver: answers every webhook with 204 as cheaply as node:http allows, and notes when each call
 * arrived. It checks nothing itself; of a sample it keeps what is needed to check later.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { numberOf } from './calls.ts';
import { connectToParent } from './children.ts';
import { sharedNowMs } from './clock.ts';
import type { Arrivals, FromReceiver, ToReceiver } from './receiver.ts';

const sampleSize = 50;

const tell: (message: FromReceiver) => void = connectToParent();

let first = 0;
let missing = 0;
let sampleEvery = 1;
let arrivals = emptyArrivals(0);

function emptyArrivals(count: number): Arrivals {
  return { receivedAt: new Float64Array(count).fill(NaN), repeated: 0, unexpected: 0, samples: [] };
}

const server = createServer({ noDelay: true }, (request, response) => {
  let body: Buffer | undefined;
  request.on('data', (chunk: Buffer) => {
    body = body ? Buffer.concat([body, chunk]) : chunk;
  });
  request.on('end', () => {
    note(request, body ?? Buffer.alloc(0));
    answer(response);
  });
});
// The sender decides when an idle connection has served its time.
server.keepAliveTimeout = 600_000;

function note(request: IncomingMessage, body: Buffer): void {
  const now = sharedNowMs();
  const index = numberOf(body) - first;
  const earlier = arrivals.receivedAt[index];
  if (index < 0 || (earlier !== undefined && !Number.isNaN(earlier))) {
    arrivals.repeated += 1;
    return;
  }
  if (earlier === undefined) {
    arrivals.unexpected += 1;
    return;
  }
  arrivals.receivedAt[index] = now;
  if (index % sampleEvery === 0) {
    const signature = request.headers['x-signature'];
    arrivals.samples.push({ number: first + index, body: Buffer.from(body), signature: String(signature) });
  }
  missing -= 1;
  if (missing === 0) tell({ kind: 'complete' });
}

function answer(response: ServerResponse): void {
  response.sendDate = false;
  response.writeHead(204).end();
}

process.on('message', (message: ToReceiver) => {
  switch (message.kind) {
    case 'expect':
      first = message.first;
      missing = message.count;
      sampleEvery = Math.max(1, Math.floor(message.count / sampleSize));
      arrivals = emptyArrivals(message.count);
      tell({ kind: 'expecting' });
      return;
    case 'hand over':
      tell({ kind: 'arrivals', arrivals });
      return;
  }
});

server.listen(0, '127.0.0.1', () => {
  tell({ kind: 'listening', port: (server.address() as AddressInfo).port });
});
