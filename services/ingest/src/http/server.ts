/** The HTTP server of ingest, on node:http. docs/decisions/http-servers.md says why it uses no framework. */
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { TailraceError, type ErrorCode } from '@tailrace/errors';
import { clientError, closeServer, closingResponse, type Log } from '@tailrace/service';
import { readTraceparent, traceFields, type TraceParent, type Tracing } from '@tailrace/tracing';
import { errorAnswer, preflight, type Answer, type ErrorAnswer } from './answer.ts';
import { watchConnections } from './connections.ts';
import { discardRest, restIsLong } from './read-body.ts';
import type { MemoryBudget } from '../memory/budget.ts';
import { answerBytes, requestBytes } from '../memory/costs.ts';
import type { IngestMetrics } from '../metrics.ts';
import { callersTraceparent, endRequestSpan, startRequestSpan } from './request-span.ts';
import { createRouter, type Route } from './router.ts';

export interface ServerOptions {
  readonly routes: readonly Route[];
  readonly metrics: Pick<IngestMetrics, 'responses' | 'refusedRequests' | 'requestDuration'>;
  readonly memory: MemoryBudget;
  readonly log: Log;
  /** Undefined where tracing is off. */
  readonly tracing?: Tracing | undefined;
  /** Aborted when the process still serves, and clients should open their next connection elsewhere. */
  readonly leaving: AbortSignal;
  /** Limit for the arrival of a whole request. Its headers have at most ten seconds of it. */
  readonly requestTimeoutMs: number;
  /** Further connections are closed immediately. */
  readonly maxConnections: number;
}

/** Longer than load balancers keep an idle connection, so that they never send a request on a closed one. */
const keepAliveTimeoutMs = 75_000;
const headersTimeoutMs = 10_000;
/** The interval of the check for slow requests, at most. */
const checkIntervalMs = 5_000;
const maxHeaderBytes = 16 * 1024;
/** SDKs send ten headers. A header of five bytes takes a hundred bytes in memory, for each connection. */
const maxHeaders = 100;
const tooLarge = 413;
/** How long a closing server waits for slow requests and responses. */
const closeTimeoutMs = 15_000;

export function createServer(options: ServerOptions) {
  const { metrics, memory, log, tracing, leaving, requestTimeoutMs, maxConnections } = options;
  const find = createRouter(options.routes);

  const refuse = (error: unknown, route: string, trace: () => TraceParent | undefined): ErrorAnswer => {
    const answer = errorAnswer(error);
    metrics.refusedRequests.inc({ code: answer.code });
    if (answer.code === 'internal-error') {
      log.error({ err: error, route, ...traceFields(trace()) }, 'request failed');
    }
    return answer;
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const startedAt = performance.now();
    const { method = '', url = '' } = request;
    const share = memory.open(requestBytes(request));
    connections.begin(request, response, share);
    const match = find(method, url);
    const name = match?.route.name ?? (method === 'OPTIONS' ? 'preflight' : 'none');
    const caller = callersTraceparent(request);
    const span = tracing && startRequestSpan(tracing, request, match?.route, caller);
    let answer: Answer;
    let code: ErrorCode | undefined;
    let admitted = false;
    try {
      if (request.rawHeaders.length > 2 * maxHeaders) throw new TailraceError('malformed-request');
      share.reserve(0, 'overloaded');
      admitted = true;
      if (match) answer = await match.route.handle(request, match.target, share, span?.traceparent ?? caller);
      else if (method === 'OPTIONS') answer = preflight;
      else throw new TailraceError('not-found');
    } catch (error) {
      const refusal = refuse(error, name, () => span ?? readTraceparent(caller));
      answer = refusal;
      code = refusal.code;
    }
    if (span) endRequestSpan(span, answer.status, code);
    if (!admitted && connections.isPipelined(request)) {
      // Its response would wait for the earlier ones, without being accounted for.
      request.socket.destroy();
      return;
    }
    const refusedEarly = answer.status >= 400 && !request.complete;
    // A sender whose connection is cut during a write sees a reset, and not the response.
    const reads = refusedEarly && admitted && answer.status !== tooLarge && !restIsLong(request);
    if (reads) discardRest(request);
    if (leaving.aborted || (refusedEarly && !reads)) response.shouldKeepAlive = false;
    if (admitted) share.set(answerBytes(answer));
    response.writeHead(answer.status, answer.headers);
    response.end(answer.body);
    connections.answered(request, response);
    metrics.responses.inc({ route: name, status: String(answer.status) });
    metrics.requestDuration.of({ route: name }).observe((performance.now() - startedAt) / 1_000);
  };

  const http = createHttpServer(
    {
      keepAliveTimeout: keepAliveTimeoutMs,
      requestTimeout: requestTimeoutMs,
      headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
      connectionsCheckingInterval: Math.min(checkIntervalMs, requestTimeoutMs / 4),
      maxHeaderSize: maxHeaderBytes,
      // The response of node:http to a request without Host is not JSON, and ingest does not need the header.
      requireHostHeader: false,
    },
    (request, response) => void serve(request, response),
  );
  // Otherwise node:http itself answers an unknown expectation, outside of the memory limits.
  http.on(
    'checkExpectation',
    (request: IncomingMessage, response: ServerResponse) => void serve(request, response),
  );
  http.maxConnections = maxConnections;
  // node:http drops further headers. With one more than allowed, `serve` detects that there are too many.
  http.maxHeadersCount = maxHeaders + 1;
  const connections = watchConnections(http);
  http.on('clientError', (error, socket: Socket) => {
    // After an early response, a second one would be taken for the response to the next request.
    if (!socket.writable || connections.hasAnswered(socket)) {
      socket.destroy();
      return;
    }
    const answer = errorAnswer(clientError(error));
    metrics.refusedRequests.inc({ code: answer.code });
    metrics.responses.inc({ route: 'none', status: String(answer.status) });
    socket.end(closingResponse(answer.status, answer.headers, answer.body));
  });

  return {
    /** Not listening yet. */
    http,
    /** Accepts no more connections, answers the requests in flight, and closes. */
    close: () => closeServer(http, closeTimeoutMs),
  };
}
