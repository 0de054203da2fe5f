/** The HTTP server of the API: authentication, parsing, errors, the OpenAPI document, and the routes of all areas. */
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { TailraceError } from '@tailrace/errors';
import { closeServer } from '@tailrace/service';
import fastify, { type FastifyInstance } from 'fastify';
import { audienceRoutes } from '../audiences/routes.ts';
import { blockedEventRoutes } from '../configuration/blocked-event-routes.ts';
import { catalogRoutes } from '../configuration/catalog-routes.ts';
import { connectionRoutes } from '../configuration/connection-routes.ts';
import { destinationRoutes } from '../configuration/destination-routes.ts';
import { secretRoutes } from '../configuration/secret-routes.ts';
import { sourceRoutes } from '../configuration/source-routes.ts';
import { testEventRoutes } from '../configuration/test-event-routes.ts';
import { writeKeyRoutes } from '../configuration/write-key-routes.ts';
import { deletionRoutes } from '../deletions/routes.ts';
import { attemptRoutes } from '../history/attempt-routes.ts';
import { deliveryRoutes } from '../history/delivery-routes.ts';
import { eventRoutes } from '../history/event-routes.ts';
import { statisticsRoutes } from '../history/statistics-routes.ts';
import { usageRoutes } from '../history/usage-routes.ts';
import { createRequestMetrics } from '../metrics.ts';
import { deadLetterRoutes } from '../replays/dead-letter-routes.ts';
import { recallRoutes } from '../replays/recall-routes.ts';
import { replayRoutes } from '../replays/replay-routes.ts';
import { writeAudit } from './audit.ts';
import { createAuthentication } from './auth.ts';
import { sendClientError, sendError, toTailraceError } from './errors.ts';
import { describeErrors, document, errorSchema } from './openapi.ts';
import { parseJsonBodies, validateRequests } from './parsing.ts';
import { createPaths } from './paths.ts';
import type { ControlDeps, Routes, SchemaTypes } from './routes.ts';

/** In the order of the OpenAPI document. */
const areas: readonly Routes[] = [
  catalogRoutes,
  sourceRoutes,
  writeKeyRoutes,
  blockedEventRoutes,
  destinationRoutes,
  connectionRoutes,
  secretRoutes,
  recallRoutes,
  testEventRoutes,
  usageRoutes,
  deliveryRoutes,
  eventRoutes,
  statisticsRoutes,
  attemptRoutes,
  deadLetterRoutes,
  replayRoutes,
  deletionRoutes,
  audienceRoutes,
];

const maxBodyBytes = 1024 * 1024;
/** The length of a request line: names of events and users are part of paths. */
const maxParameterLength = 16 * 1024;
/** Closes a connection without traffic in either direction. */
const idleConnectionMs = 120_000;
/** For requests in flight; shorter than the grace period of the process. */
const closeTimeoutMs = 10_000;

/** Resolves with a server that is ready and does not listen yet. */
export async function createServer(deps: ControlDeps): Promise<FastifyInstance> {
  const app = fastify({
    bodyLimit: maxBodyBytes,
    connectionTimeout: idleConnectionMs,
    routerOptions: { maxParamLength: maxParameterLength },
    forceCloseConnections: 'idle',
    frameworkErrors: (error, request, reply) => {
      sendError(toTailraceError(error), request, reply);
    },
    clientErrorHandler: sendClientError,
  });
  app.decorateRequest('role', undefined);
  app.decorateRequest('tokenFingerprint', undefined);
  app.decorateRequest('audited', undefined);
  app.decorateRequest('errorCode', undefined);

  parseJsonBodies(app);
  validateRequests(app);
  // Answers are serialized as they are: serializing by schema would drop fields that a schema lacks.
  app.setSerializerCompiler(() => (answer) => JSON.stringify(answer));
  reportResponses(app, deps);
  answerErrors(app, deps);
  await serveReference(app);
  answerUnknownRoutes(app);

  app.get(
    '/openapi.json',
    {
      schema: {
        operationId: 'openapi',
        summary: 'Get this document',
        tags: ['About'],
        security: [],
        response: { 200: { type: 'object', description: 'OpenAPI 3.1', additionalProperties: true } },
      },
    },
    () => app.swagger(),
  );
  const authenticate = createAuthentication(deps.settings.access);
  await app.register(
    (scope, _options, done) => {
      scope.addHook('onRequest', (request, _reply, next) => {
        authenticate(request);
        next();
      });
      const api = scope.withTypeProvider<SchemaTypes>();
      for (const addRoutes of areas) addRoutes(api, deps);
      done();
    },
    { prefix: '/v1' },
  );
  await app.ready();
  return app;
}

/** Counts each response, and writes its line to the audit log. */
function reportResponses(app: FastifyInstance, { log, metrics }: Pick<ControlDeps, 'log' | 'metrics'>): void {
  const { requests, durations } = createRequestMetrics(metrics);
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none';
    const { statusCode, elapsedTime } = reply;
    // For an unknown path the client chooses the method, which would make an unbounded label.
    const method = route === 'none' ? 'any' : request.method;
    requests.inc({ route, method, status: `${Math.trunc(statusCode / 100)}xx` });
    durations.observe({ route }, elapsedTime / 1_000);
    if (route.startsWith('/v1/')) writeAudit(log, request, reply);
    done();
  });
}

function answerErrors(app: FastifyInstance, { log }: Pick<ControlDeps, 'log'>): void {
  app.setErrorHandler((cause, request, reply) => {
    const error = toTailraceError(cause);
    if (error.code === 'internal-error') {
      log.error({ err: cause, route: request.routeOptions.url, method: request.method }, 'request failed');
    }
    sendError(error, request, reply);
  });
}

/** Prepares the OpenAPI document, and serves its reference page at `/docs`. */
async function serveReference(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: document,
    refResolver: {
      buildLocalReference: ({ $id }, _base, _fragment, index) =>
        typeof $id === 'string' ? $id : `schema-${index}`,
    },
  });
  app.addSchema(errorSchema);
  await app.register(swaggerUi, { routePrefix: '/docs', staticCSP: true, uiConfig: { deepLinking: true } });
  app.addHook('onRoute', (route) => {
    if (route.url.startsWith('/v1/')) describeErrors(route);
  });
}

/** Answers 404 for an unknown path and 405 for a wrong method, for the routes that are added after this call. */
function answerUnknownRoutes(app: FastifyInstance): void {
  const paths = createPaths();
  app.addHook('onRoute', (route) => {
    paths.add(route);
  });
  app.setNotFoundHandler((request, reply) => {
    const methods = paths.methodsOf(request.url).join(', ');
    if (methods === '') throw new TailraceError('not-found');
    reply.header('allow', methods);
    throw new TailraceError(
      'method-not-allowed',
      `The method ${request.method} is not allowed for this path. Use one of: ${methods}.`,
    );
  });
}

/** Answers the requests in flight, and closes. */
export async function closeApi(app: FastifyInstance): Promise<void> {
  await closeServer(app.server, closeTimeoutMs);
  await app.close();
}
