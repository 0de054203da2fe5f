/**
 * The HTTP side of ingest: routes, write keys, CORS and errors, as the public tracking SDKs need them.
 *
 * Several of them take only status 200 with a JSON object for success and send everything again otherwise;
 * browsers hide any answer, errors too, that has no CORS headers.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { isTailraceError, TailraceError } from '@tailrace/errors';
import type { EventType } from '@tailrace/events';
import type { Log } from '@tailrace/service';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Acceptor, Origin } from './accept.ts';
import { batchLimit, callLimit, decompress, parseJson, type BodyLimit } from './body.ts';
import { clientErrorAnswer, errorAnswer } from './error-answer.ts';
import type { IngestObserver } from './observe.ts';
import { writeKeysOf, type SourceFinder } from './write-key.ts';

export interface IngestServer {
  /** Not listening yet. */
  readonly http: Server;
  /** Takes no more connections, answers what has been asked, and closes. */
  close(): Promise<void>;
}

interface ServerDependencies {
  readonly findSource: SourceFinder;
  readonly acceptor: Acceptor;
  readonly observer: IngestObserver;
  readonly log: Log;
  /** Where browsers reach this server, for the settings they ask for; else what the request says is used. */
  readonly publicUrl: string | undefined;
}

/** The names that each call has in paths; the second is what browsers use. */
const callPaths: Readonly<Record<Exclude<EventType, 'delete'>, readonly string[]>> = {
  track: ['track', 't'],
  identify: ['identify', 'i'],
  page: ['page', 'p'],
  screen: ['screen', 's'],
  group: ['group', 'g'],
  alias: ['alias', 'a'],
};
const batchPaths = ['batch', 'b', 'import'];

const success = Buffer.from('{"success":true}');
/** A transparent GIF of one pixel. */
const pixel = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

const corsHeaders = { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'Retry-After' };
const preflightHeaders = {
  ...corsHeaders,
  'access-control-allow-methods': 'GET, POST, OPTIONS',
  'access-control-allow-headers': 'Authorization, Content-Type, X-Retry-Count',
  'access-control-max-age': '86400',
};

/** Longer than load balancers keep an idle connection, so that it is never they who meet a closed one. */
const keepAliveTimeoutMs = 75_000;
const headersTimeoutMs = 10_000;
const requestTimeoutMs = 60_000;
const maxHeaderBytes = 16 * 1024;
/** How long a closing server waits for requests that are slow to arrive or to be answered. */
const closeTimeoutMs = 15_000;

export async function createServer(dependencies: ServerDependencies): Promise<IngestServer> {
  const { observer, log } = dependencies;
  let closing = false;

  const app = fastify({
    logger: false,
    keepAliveTimeout: keepAliveTimeoutMs,
    requestTimeout: requestTimeoutMs,
    http: {
      headersTimeout: headersTimeoutMs,
      connectionsCheckingInterval: 5_000,
      maxHeaderSize: maxHeaderBytes,
    },
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, maxParamLength: 256 },
    clientErrorHandler: (error, socket: Socket) => {
      if (socket.writable) socket.end(clientErrorAnswer(error, corsHeaders));
      else socket.destroy();
    },
    frameworkErrors: (_error, _request, reply) => {
      void sendError(new TailraceError('not-found'), reply.headers(corsHeaders));
    },
  });

  const sendError = (error: unknown, reply: FastifyReply): FastifyReply => {
    const answer = errorAnswer(error);
    observer.refused(answer.code);
    if (answer.code === 'internal-error')
      log.error({ err: error, path: reply.request.routeOptions.url }, 'a request failed');
    return reply.code(answer.status).headers(answer.headers).send(answer.body);
  };

  // The body is JSON whatever it is called; what is not even a media type would be refused before the parser.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body);
  });
  app.addHook('onRequest', (request, reply, done) => {
    request.headers['content-type'] = 'application/json';
    reply.headers(corsHeaders);
    if (closing) reply.header('connection', 'close');
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    observer.answered(request.routeOptions.config.name ?? 'none', reply.elapsedTime);
    done();
  });
  app.setErrorHandler((error, request, reply) => sendError(translate(error, request), reply));
  app.setNotFoundHandler((_request, reply) => sendError(new TailraceError('not-found'), reply));
  app.options('*', { config: { name: 'preflight' } }, (_request, reply) =>
    reply.code(204).headers(preflightHeaders).send(),
  );
  addTrackingRoutes(app, dependencies);
  addBrowserRoutes(app, dependencies);
  await app.ready();

  return {
    http: app.server,
    async close() {
      closing = true;
      const closed = new Promise((resolve) => app.server.close(resolve));
      const late = await Promise.race([closed, wait(closeTimeoutMs, 'late', { ref: false })]);
      if (late === 'late') app.server.closeAllConnections();
      await closed;
      await app.close();
    },
  };
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the route is called in metrics; the forms of one path share it. */
    readonly name?: string;
    readonly limit?: BodyLimit;
  }
}

function addTrackingRoutes(
  app: FastifyInstance,
  { findSource, acceptor, observer }: ServerDependencies,
): void {
  const read = async (request: FastifyRequest, limit: BodyLimit): Promise<ReadRequest> => {
    const { body = emptyBody } = request as { body?: Buffer };
    observer.received(body.length);
    const bytes = decompress(body, request.headers['content-encoding'], limit);
    const input = parseJson(bytes);
    const source = await findSource(writeKeysOf(request.headers.authorization, input));
    return { input, bytes: bytes.length, origin: originOf(request, source) };
  };

  for (const [type, paths] of Object.entries(callPaths) as [EventType, readonly string[]][]) {
    const options = { bodyLimit: callLimit.bytes, config: { name: type, limit: callLimit } };
    const accept = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const { input, origin } = await read(request, callLimit);
      await acceptor.call(type, input, origin);
      return sendJson(reply, success);
    };
    for (const path of paths) app.post(`/v1/${path}`, options, accept);

    const acceptPixel = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const input = parseJson(pixelData(request));
      const source = await findSource(writeKeysOf(request.headers.authorization, input));
      await acceptor.call(type, input, originOf(request, source));
      return reply.headers({ 'content-type': 'image/gif', 'cache-control': 'no-store' }).send(pixel);
    };
    for (const path of paths) app.get(`/v1/pixel/${path}`, { config: { name: 'pixel' } }, acceptPixel);
  }

  for (const path of batchPaths) {
    const options = { bodyLimit: batchLimit.bytes, config: { name: 'batch', limit: batchLimit } };
    app.post(`/v1/${path}`, options, async (request, reply) => {
      const { input, bytes, origin } = await read(request, batchLimit);
      const { accepted, rejected } = await acceptor.batch(input, bytes, origin);
      const [first] = rejected;
      if (!first) return sendJson(reply, success);
      if (accepted > 0) return sendJson(reply, Buffer.from(JSON.stringify({ success: true, rejected })));
      observer.refused(first.code);
      const message = `No call of the batch can be used. The first: ${first.message}`;
      const { status } = new TailraceError(first.code);
      return sendJson(
        reply.code(status),
        Buffer.from(JSON.stringify({ code: first.code, message, rejected })),
      );
    });
  }
}

/** What the browser SDK asks for beside its calls: its settings when it loads, and to be rid of its metrics. */
function addBrowserRoutes(app: FastifyInstance, { findSource, publicUrl }: ServerDependencies): void {
  app.get<{ Params: { writeKey: string } }>(
    '/v1/projects/:writeKey/settings',
    { config: { name: 'settings' } },
    async (request, reply) => {
      const { writeKey } = request.params;
      await findSource([writeKey]);
      const settings = {
        integrations: { 'Segment.io': { apiKey: writeKey, ...addressOf(request, publicUrl) } },
      };
      // Not for shared caches: the host that the browser named is part of it.
      reply.header('cache-control', 'private, max-age=300');
      return sendJson(reply, Buffer.from(JSON.stringify(settings)));
    },
  );
  app.post(
    '/v1/m',
    { bodyLimit: batchLimit.bytes, config: { name: 'metrics', limit: batchLimit } },
    (_request, reply) => sendJson(reply, success),
  );
}

interface ReadRequest {
  readonly input: unknown;
  /** Size of the body after decompression. */
  readonly bytes: number;
  readonly origin: Origin;
}

const emptyBody = Buffer.alloc(0);

/** Bytes, because fastify adds a charset to the type of a text, which some SDKs do not expect. */
function sendJson(reply: FastifyReply, body: Buffer): FastifyReply {
  return reply.header('content-type', 'application/json').send(body);
}

/** W3C Trace Context, section 3.2: version, trace id and parent id, none of them invalid, and flags. */
const validTraceparent = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;

function originOf({ headers: { traceparent } }: FastifyRequest, source: Origin['source']): Origin {
  const valid = typeof traceparent === 'string' && validTraceparent.test(traceparent);
  return { source, receivedAt: Date.now(), ...(valid && { traceparent }) };
}

/** base64 or base64url; a plus sign that was not escaped has become a space on its way. */
function pixelData(request: FastifyRequest): Buffer {
  const { data } = request.query as { data?: unknown };
  if (typeof data === 'string') return Buffer.from(data.replaceAll(' ', '+'), 'base64');
  throw new TailraceError('malformed-json', 'The call is missing. Give it as `data`, in base64.');
}

/** Where the browser SDK is to send its calls, as its settings name it. */
function addressOf(
  request: FastifyRequest,
  publicUrl: string | undefined,
): { apiHost: string; protocol: string } {
  const forwarded = request.headers['x-forwarded-proto'];
  const protocol = typeof forwarded === 'string' && forwarded.startsWith('https') ? 'https' : 'http';
  const url = publicUrl ?? `${protocol}://${request.headers.host ?? 'localhost'}`;
  return {
    apiHost: `${url.replace(/^https?:\/\//, '').replace(/\/+$/, '')}/v1`,
    protocol: url.split(':', 1)[0] ?? '',
  };
}

/** fastify's own errors, in our terms. */
function translate(error: unknown, request: FastifyRequest): unknown {
  if (isTailraceError(error)) return error;
  const code = (error as { code?: unknown }).code;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new TailraceError(request.routeOptions.config.limit?.exceeded ?? 'batch-too-large');
  }
  const status = (error as { statusCode?: unknown }).statusCode;
  return typeof status === 'number' && status < 500 ? new TailraceError('malformed-request') : error;
}
