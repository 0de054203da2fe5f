/** The HTTP server of the API: authentication, parsing, errors, the OpenAPI document, and the routes of all areas. */
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { TailraceError } from '@tailrace/errors';
import { closeServer, trustProxies } from '@tailrace/service';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { authorize } from '../access/authorize.ts';
import { createRateLimit } from '../access/rate-limit.ts';
import { tokenRoutes } from '../access/routes.ts';
import { withinRequest } from '../audit/context.ts';
import { auditRoutes } from '../audit/routes.ts';
import { openAuditTrail } from '../audit/trail.ts';
import { audienceRoutes } from '../audiences/routes.ts';
import { blockedEventRoutes } from '../configuration/sources/blocked-event-routes.ts';
import { catalogRoutes } from '../configuration/catalog-routes.ts';
import { connectionRoutes } from '../configuration/destinations/connection-routes.ts';
import { serveConsole } from '../console/routes.ts';
import { filterTestRoutes } from '../configuration/destinations/filter-test-routes.ts';
import { destinationRoutes } from '../configuration/destinations/routes.ts';
import { pauseRoutes } from '../configuration/destinations/pause-routes.ts';
import { rotationRoutes } from '../configuration/destinations/rotation-routes.ts';
import { secretRoutes } from '../configuration/secret-routes.ts';
import { sourceRoutes } from '../configuration/sources/routes.ts';
import { testEventRoutes } from '../configuration/destinations/test-event-routes.ts';
import { writeKeyRoutes } from '../configuration/sources/write-key-routes.ts';
import { deletionRoutes } from '../deletions/routes.ts';
import { attemptRoutes } from '../history/attempt-routes.ts';
import { decisionRoutes } from '../history/decision-routes.ts';
import { deliveryRoutes } from '../history/delivery-routes.ts';
import { eventRoutes } from '../history/event-routes.ts';
import { liveRoutes } from '../history/live-routes.ts';
import { overviewRoutes } from '../history/overview-routes.ts';
import { statisticsRoutes } from '../history/statistics-routes.ts';
import { usageRoutes } from '../history/usage-routes.ts';
import { createRequestMetrics } from '../metrics.ts';
import { deadLetterRoutes } from '../replays/dead-letter-routes.ts';
import { recallRoutes } from '../replays/recall-routes.ts';
import { replayRoutes } from '../replays/replay-routes.ts';
import { resendRoutes } from '../replays/resend-routes.ts';
import { finishDocument, type OpenApiDocument } from '../document/finish.ts';
import { readCookie } from '../session/cookie.ts';
import { sessionRoutes } from '../session/routes.ts';
import { suppressionRoutes } from '../suppressions/routes.ts';
import { createAuthentication, hasCredential } from '../access/authenticate.ts';
import { createUpToDate } from './current.ts';
import { sendClientError, sendError, toTailraceError } from './errors.ts';
import { describeErrors, document, errorSchema } from '../document/openapi.ts';
import { parseJsonBodies, validateRequests } from './parsing.ts';
import { createPaths, type Paths } from './paths.ts';
import type { ControlDeps, Routes, SchemaTypes } from './routes.ts';

/** In the order of the OpenAPI document. */
const areas: readonly Routes[] = [
  sessionRoutes,
  catalogRoutes,
  sourceRoutes,
  writeKeyRoutes,
  blockedEventRoutes,
  destinationRoutes,
  connectionRoutes,
  pauseRoutes,
  rotationRoutes,
  secretRoutes,
  recallRoutes,
  testEventRoutes,
  filterTestRoutes,
  usageRoutes,
  deliveryRoutes,
  decisionRoutes,
  eventRoutes,
  statisticsRoutes,
  overviewRoutes,
  liveRoutes,
  attemptRoutes,
  deadLetterRoutes,
  replayRoutes,
  resendRoutes,
  deletionRoutes,
  suppressionRoutes,
  audienceRoutes,
  tokenRoutes,
  auditRoutes,
];

const maxBodyBytes = 1024 * 1024;
/** The length of a request line: names of events and users are part of paths. */
const maxParameterLength = 16 * 1024;
/** Closes a connection without traffic in either direction. */
const idleConnectionMs = 120_000;
/** For requests in flight; shorter than the grace period of the process. */
const closeTimeoutMs = 10_000;

/** What is answered is for its caller, so no cache keeps it; files set their own. Browsers take no answer for another type than it has. */
const protection = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/**
 * The page loads only what this server has. It has no `upgrade-insecure-requests`, with which browsers request its scripts by
 * HTTPS, except from localhost: over plain HTTP the page would be blank.
 */
const referencePolicy = {
  'default-src': "'none'",
  'script-src': "'self'",
  // Swagger UI has styles in its logo and its icons.
  'style-src': ["'self'", "'unsafe-inline'"],
  'img-src': ["'self'", 'data:'],
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
};

/** Resolves with a server that is ready and does not listen yet. */
export async function createServer(deps: ControlDeps): Promise<FastifyInstance> {
  const proxies = trustProxies(deps.settings.trustedProxies);
  const app = fastify({
    bodyLimit: maxBodyBytes,
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
  app.decorateRequest('caller', undefined);
  app.decorateRequest('role', undefined);
  app.decorateRequest('tokenFingerprint', undefined);
  app.decorateRequest('session', undefined);
  app.decorateRequest('credential', undefined);
  app.decorateRequest('audited', undefined);
  app.decorateRequest('isAudited', false);
  app.decorateRequest('errorCode', undefined);

  parseJsonBodies(app);
  validateRequests(app);
  // Answers are serialized as they are: serializing by schema would drop fields that a schema lacks.
  app.setSerializerCompiler(() => (answer) => JSON.stringify(answer));
  reportResponses(app, deps);
  const paths = createPaths();
  answerErrors(app, deps, paths);
  await serveReference(app);
  answerUnknownRoutes(app, paths);
  serveConsole(app);

  app.get(
    '/openapi.json',
    {
      schema: {
        operationId: 'openapi',
        summary: 'Get this document',
        tags: ['About'],
        security: [],
        response: {
          200: { title: 'Document', type: 'object', description: 'OpenAPI 3.1', additionalProperties: true },
        },
      },
    },
    () => app.swagger(),
  );
  const authenticate = createAuthentication(deps);
  const countRequest = createRateLimit(deps.settings.requestsPerSecond);
  const countGuess = createRateLimit(deps.settings.requestsPerSecond);
  const upToDate = createUpToDate(deps);
  await app.register(
    (scope, _options, done) => {
      // Before the token is looked up: another instance may just have created or revoked it, or ended the session.
      scope.addHook('onRequest', async (request) => {
        if (hasCredential(request))
          await upToDate(request.routeOptions.url ?? '', readCookie(request) !== undefined);
      });
      scope.addHook('onRequest', (request, reply, next) => {
        try {
          authenticate(request);
        } catch (error) {
          // Guesses cost as little as the requests of a token. A right token is answered beside them.
          if (request.tokenFingerprint !== undefined)
            countGuess({ tokenId: request.clientAddress ?? '', fingerprint: '' }, reply);
          throw error;
        }
        if (request.caller) countRequest(request.caller, reply);
        authorize(request);
        next();
      });
      scope.addHook('preHandler', (request, _reply, next) => {
        withinRequest(request, next);
      });
      deps.idempotency.addTo(scope);
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
function reportResponses(app: FastifyInstance, deps: ControlDeps): void {
  const { kafka, names, log, metrics } = deps;
  const trail = openAuditTrail(kafka, names.audit, log);
  const { requests, durations } = createRequestMetrics(metrics);
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none';
    const { statusCode, elapsedTime } = reply;
    // For an unknown path the client chooses the method, which would make an unbounded label.
    const method = route === 'none' ? 'any' : request.method;
    requests.inc({ route, method, status: statusClass(statusCode) });
    durations.of({ route }).observe(elapsedTime / 1_000);
    if (route.startsWith('/v1/')) trail.answered(request, reply);
    done();
  });
}

/** A status of another class would be a defect. */
function statusClass(status: number): '2xx' | '3xx' | '4xx' | '5xx' {
  if (status >= 500 || status < 200) return '5xx';
  if (status >= 400) return '4xx';
  return status >= 300 ? '3xx' : '2xx';
}

function answerErrors(app: FastifyInstance, { log }: Pick<ControlDeps, 'log'>, paths: Paths): void {
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

/** Prepares the OpenAPI document, and serves its reference page at `/docs`. */
async function serveReference(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: document,
    transformObject: (given) =>
      'openapiObject' in given ? finishDocument(given.openapiObject as OpenApiDocument) : given.swaggerObject,
    refResolver: {
      buildLocalReference: ({ $id }, _base, _fragment, index) =>
        typeof $id === 'string' ? $id : `schema-${index}`,
    },
  });
  app.addSchema(errorSchema);
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: referencePolicy,
    // The validator is a public service, which would get the address of this one.
    uiConfig: { deepLinking: true, validatorUrl: null },
  });
  app.addHook('onRoute', (route) => {
    if (route.url.startsWith('/v1/')) describeErrors(route);
  });
}

/** Answers 404 for an unknown path and 405 for a wrong method, for the routes that are added after this call. */
function answerUnknownRoutes(app: FastifyInstance, paths: Paths): void {
  app.addHook('onRoute', (route) => {
    paths.add(route);
  });
  app.setNotFoundHandler((request, reply) => {
    throw unknownRoute(paths, request, reply);
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
