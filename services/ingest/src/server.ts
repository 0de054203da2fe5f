/**
 * The HTTP side of ingest, on node:http itself: a framework's router, hooks and content types took a third of what
 * a call costs, and each of its conveniences (a charset behind the type, media types that must be valid) had to
 * be turned off for one SDK or another.
 */
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { TailraceError } from '@tailrace/errors';
import type { Log } from '@tailrace/service';
import { clientErrorAnswer, errorAnswer, httpText, preflight, type Answer } from './answer.ts';
import { watchConnections } from './connections.ts';
import { forgetRest, restIsLong } from './intake.ts';
import type { MemoryBudget } from './memory.ts';
import { answerBytes, requestBytes } from './memory-costs.ts';
import type { IngestObserver } from './observe.ts';
import { createRouter, type Route } from './route.ts';

export interface IngestServer {
  /** Not listening yet. */
  readonly http: Server;
  /** Takes no more connections, answers what has been asked, and closes. */
  close(): Promise<void>;
}

export interface ServerOptions {
  readonly routes: readonly Route[];
  readonly observer: IngestObserver;
  readonly memory: MemoryBudget;
  readonly log: Log;
  /** For the whole of a request to arrive; its headers have at most ten seconds of it. */
  readonly requestTimeoutMs: number;
  /** A connection beyond them is closed as soon as it is made. */
  readonly maxConnections: number;
}

/** Longer than load balancers keep an idle connection, so that it is never they who meet a closed one. */
const keepAliveTimeoutMs = 75_000;
const headersTimeoutMs = 10_000;
/** How often connections are looked at for requests that are too slow, at the least. */
const checkIntervalMs = 5_000;
const maxHeaderBytes = 16 * 1024;
/** SDKs send ten. A header of five bytes takes a hundred in memory, and one of each connection may be arriving. */
const maxHeaders = 100;
const tooLarge = 413;
/** How long a closing server waits for requests that are slow to arrive or to be answered. */
const closeTimeoutMs = 15_000;

export function createServer(options: ServerOptions): IngestServer {
  const { observer, memory, log, requestTimeoutMs, maxConnections } = options;
  const find = createRouter(options.routes);
  let closing = false;

  const refuse = (error: unknown, route: string): Answer => {
    const answer = errorAnswer(error);
    observer.refused(answer.code);
    if (answer.code === 'internal-error') log.error({ err: error, route }, 'a request failed');
    return answer;
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const startedAt = performance.now();
    const { method = '', url = '' } = request;
    const share = memory.open(requestBytes(request));
    connections.begin(request, response, share);
    const match = find(method, url);
    const name = match?.route.name ?? (method === 'OPTIONS' ? 'preflight' : 'none');
    let answer: Answer;
    let admitted = false;
    try {
      if (request.rawHeaders.length > 2 * maxHeaders) throw new TailraceError('malformed-request');
      share.ask(0, 'overloaded');
      admitted = true;
      if (match) answer = await match.route.handle(request, match.target, share);
      else if (method === 'OPTIONS') answer = preflight;
      else throw new TailraceError('not-found');
    } catch (error) {
      answer = refuse(error, name);
    }
    if (!admitted && connections.isPipelined(request)) {
      // Its answer would have to wait for the others, and is not accounted for.
      request.socket.destroy();
      return;
    }
    const refusedEarly = answer.status >= 400 && !request.complete;
    // A sender that is cut off while it writes sees a reset and no answer.
    const reads = refusedEarly && admitted && answer.status !== tooLarge && !restIsLong(request);
    if (reads) forgetRest(request);
    if (closing || (refusedEarly && !reads)) response.shouldKeepAlive = false;
    if (admitted) share.keep(answerBytes(answer));
    response.writeHead(answer.status, answer.headers);
    response.end(answer.body);
    connections.answered(request, response);
    observer.answered(name, performance.now() - startedAt);
  };

  const http = createHttpServer(
    {
      keepAliveTimeout: keepAliveTimeoutMs,
      requestTimeout: requestTimeoutMs,
      headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
      connectionsCheckingInterval: Math.min(checkIntervalMs, requestTimeoutMs / 4),
      maxHeaderSize: maxHeaderBytes,
      // Its own answer to a request without one would not be JSON, and nothing here depends on it.
      requireHostHeader: false,
    },
    (request, response) => void serve(request, response),
  );
  // Otherwise node:http answers an unknown expectation itself, past all bounds on memory.
  http.on(
    'checkExpectation',
    (request: IncomingMessage, response: ServerResponse) => void serve(request, response),
  );
  http.maxConnections = maxConnections;
  // node:http leaves out what is beyond it; with one more than are allowed, `serve` sees that there are too many.
  http.maxHeadersCount = maxHeaders + 1;
  const connections = watchConnections(http);
  http.on('clientError', (error, socket: Socket) => {
    // Behind an answer that was given before the request was complete, a second one would be taken for that of the next.
    if (!socket.writable || connections.hasAnswered(socket)) {
      socket.destroy();
      return;
    }
    const answer = clientErrorAnswer(error);
    observer.refused(answer.code);
    socket.end(httpText(answer));
  });

  return {
    http,
    async close() {
      closing = true;
      const closed = new Promise((resolve) => http.close(resolve));
      const late = await Promise.race([closed, wait(closeTimeoutMs, 'late', { ref: false })]);
      if (late === 'late') http.closeAllConnections();
      await closed;
    },
  };
}
