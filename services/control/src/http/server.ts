/** The HTTP server without routes: parsing, validation, errors, and answers for unknown paths. */
import { TailraceError } from '@tailrace/errors';
import { closeServer, trustProxies, type Cidr, type Log } from '@tailrace/service';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { protection, sendClientError, sendError, toTailraceError } from './errors.ts';
import { parseJsonBodies, validateRequests } from './parsing.ts';
import { createPaths, type Paths } from './paths.ts';

const maxBodyBytes = 1024 * 1024;
/** The length of a request line: names of events and users are part of paths. */
const maxParameterLength = 16 * 1024;
/** Closes a connection without traffic in either direction. */
const idleConnectionMs = 120_000;
/** For requests in flight; shorter than the grace period of the process. */
const closeTimeoutMs = 10_000;

export interface Server {
  readonly app: FastifyInstance;
  /** From this call on, routes are known by path: an unknown path is answered with 404, and a wrong method with 405. */
  answerUnknownRoutes(): void;
}

/** @param trustedProxies those of TAILRACE_TRUSTED_PROXIES */
export function createServer(trustedProxies: readonly Cidr[], log: Pick<Log, 'error'>): Server {
  const proxies = trustProxies(trustedProxies);
  const app = fastify({
    bodyLimit: maxBodyBytes,
    // On a busy machine a plugin takes longer than the ten seconds that are the default.
    pluginTimeout: 0,
    connectionTimeout: idleConnectionMs,
    routerOptions: { maxParamLength: maxParameterLength },
    forceCloseConnections: 'idle',
    trustProxy: (address) => proxies.trusts(address),
    frameworkErrors: (error, request, reply) => {
      reply.headers(protection);
      sendError(toTailraceError(error), request, reply);
    },
    clientErrorHandler: sendClientError,
  });
  app.addHook('onRequest', (_request, reply, next) => {
    reply.headers(protection);
    next();
  });
  app.decorateRequest('clientAddress', {
    getter() {
      return proxies.clientOf(this.socket.remoteAddress, this.headers);
    },
  });
  app.decorateRequest('audited', undefined);
  app.decorateRequest('isAudited', false);
  app.decorateRequest('errorCode', undefined);

  parseJsonBodies(app);
  validateRequests(app);
  // Answers are serialized as they are: serializing by schema would drop fields that a schema lacks.
  app.setSerializerCompiler(() => (answer) => JSON.stringify(answer));
  const paths = createPaths();
  answerErrors(app, log, paths);
  return {
    app,
    answerUnknownRoutes() {
      app.addHook('onRoute', (route) => paths.add(route));
      app.setNotFoundHandler((request, reply) => {
        throw unknownRoute(paths, request, reply);
      });
    },
  };
}

function answerErrors(app: FastifyInstance, log: Pick<Log, 'error'>, paths: Paths): void {
  app.setErrorHandler((cause, request, reply) => {
    // Instead of not finding the route: only for the method QUERY, which no route has.
    const isUnknown = (cause as { code?: unknown }).code === 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE';
    const error = isUnknown ? unknownRoute(paths, request, reply) : toTailraceError(cause);
    if (error.code === 'internal-error') {
      log.error({ err: cause, route: request.routeOptions.url, method: request.method }, 'request failed');
    }
    sendError(error, request, reply);
  });
}

function unknownRoute(paths: Paths, request: FastifyRequest, reply: FastifyReply): TailraceError {
  const methods = paths.methodsOf(request.url).join(', ');
  if (methods === '') return new TailraceError('not-found');
  reply.header('allow', methods);
  return new TailraceError(
    'method-not-allowed',
    `The method ${request.method} is not allowed for this path. Use one of: ${methods}.`,
  );
}

/** Answers the requests in flight, and closes. */
export async function closeApi(app: FastifyInstance): Promise<void> {
  await closeServer(app.server, closeTimeoutMs);
  await app.close();
}
