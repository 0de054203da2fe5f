/**
 * The receivers: endpoints with their own ports and behaviours, in one process. It answers as cheaply as node:http allows and
 * records the arrival of each call under its number. It checks nothing itself; it keeps a sample to be checked later.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { numberOf } from '../load/calls.ts';
import { connectToParent } from '../processes/children.ts';
import { sharedNowMs } from '../processes/clock.ts';
import type { Arrivals, Behaviour, FromReceiver, ToReceiver } from './receiver.ts';

const sampleSize = 50;

const report: (message: FromReceiver) => void = connectToParent();

let first = 0;
let missing = 0;
let recoveries = 0;
let sampleEvery = 1;
let arrivals = emptyArrivals(0);

function emptyArrivals(count: number): Arrivals {
  return { receivedAt: new Float64Array(count).fill(NaN), repeated: 0, unexpected: 0, samples: [] };
}

/** Answers one request whose body has been read. */
type Answer = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void;

/** The handler of an endpoint; a behaviour with a state has it here. */
function answerOf(behaviour: Behaviour): Answer {
  switch (behaviour.kind) {
    case 'answers':
      return accept;
    case 'fails':
      return (_request, response) => {
        after(behaviour.afterMs ?? 0, response, () => {
          refuse(response, 500);
        });
      };
    case 'is down': {
      const before = recoveries;
      return (request, response, body) => {
        if (recoveries > before) accept(request, response, body);
        else refuse(response, 500);
      };
    }
    case 'is slow':
      return (request, response, body) => {
        after(behaviour.eachMs, response, () => {
          accept(request, response, body);
        });
      };
    case 'trickles':
      return (_request, response) => {
        const { socket } = response;
        socket?.write('HTTP/1.1 204 No Content\r\n');
        const timer = setInterval(() => socket?.write('X-More: to come\r\n'), 500);
        response.once('close', () => {
          clearInterval(timer);
        });
      };
    case 'is self-signed':
      return accept;
    case 'by path': {
      const byPath = new Map(Object.entries(behaviour.paths).map(([path, its]) => [path, answerOf(its)]));
      return (request, response, body) => {
        const answer = byPath.get(request.url ?? '');
        if (answer) answer(request, response, body);
        else refuse(response, 404);
      };
    }
    case 'is silent':
      return () => undefined;
    case 'resets':
      return (request) => {
        request.socket.resetAndDestroy();
      };
    case 'is serial': {
      let earlier: Promise<void> = Promise.resolve();
      return (...exchange) => {
        earlier = earlier
          .then(() => sleep(behaviour.eachMs))
          .then(() => {
            accept(...exchange);
          });
      };
    }
    case 'throttles': {
      let second = 0;
      let taken = 0;
      return (request, response, body) => {
        const now = Math.floor(sharedNowMs() / 1_000);
        if (now !== second) {
          second = now;
          taken = 0;
        }
        taken += 1;
        if (taken > behaviour.perSecond) refuse(response, 429);
        else accept(request, response, body);
      };
    }
    case 'fails once': {
      const seen = new Set<number>();
      return (request, response, body) => {
        const number = numberOf(body);
        if (number % behaviour.oneIn !== 0 || seen.has(number)) {
          accept(request, response, body);
          return;
        }
        seen.add(number);
        const { retryAfterSeconds } = behaviour;
        const seconds = retryAfterSeconds[(number / behaviour.oneIn) % retryAfterSeconds.length] ?? 0;
        response.setHeader('Retry-After', seconds);
        refuse(response, 503);
      };
    }
  }
}

function accept(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
  note(request, body);
  response.sendDate = false;
  response.writeHead(204).end();
}

/** Calls `answer` unless the sender has disconnected by then. */
function after(ms: number, response: ServerResponse, answer: () => void): void {
  if (ms === 0) {
    answer();
    return;
  }
  const timer = setTimeout(answer, ms);
  response.once('close', () => {
    clearTimeout(timer);
  });
}

function refuse(response: ServerResponse, status: number): void {
  response.sendDate = false;
  response.writeHead(status, { 'Content-Length': 0 }).end();
}

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
  if (missing === 0) report({ kind: 'complete', first });
}

async function listen(behaviour: Behaviour): Promise<number> {
  const answer = answerOf(behaviour);
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    let body: Buffer | undefined;
    request.on('data', (chunk: Buffer) => {
      body = body ? Buffer.concat([body, chunk]) : chunk;
    });
    request.on('end', () => {
      answer(request, response, body ?? Buffer.alloc(0));
    });
  };
  const server =
    behaviour.kind === 'is self-signed'
      ? createSecureServer(
          (await import('../../support/receivers/certificates.ts')).certificates().selfSigned,
          onRequest,
        )
      : createServer({ noDelay: true }, onRequest);
  // The sender decides how long an idle connection is kept.
  server.keepAliveTimeout = 600_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

process.on('message', (message: ToReceiver) => {
  switch (message.kind) {
    case 'listen':
      void Promise.all(message.behaviours.map(listen)).then((ports) => {
        report({ kind: 'listening', ports });
      });
      return;
    case 'recover':
      recoveries += 1;
      report({ kind: 'recovered', at: sharedNowMs() });
      return;
    case 'expect':
      first = message.first;
      missing = message.arriving;
      sampleEvery = Math.max(1, Math.floor(message.count / sampleSize));
      arrivals = emptyArrivals(message.count);
      report({ kind: 'expecting' });
      return;
    case 'hand over':
      report({ kind: 'arrivals', arrivals });
      return;
  }
});
