/** The HTTP side of the control plane: who may ask, what is understood, and how every answer looks. */
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { TailraceError } from '@tailrace/errors';
import { buckets, clientError, closeServer, closingResponse, hasRetryAfter } from '@tailrace/service';
import { Ajv } from 'ajv';
import fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import type { TSchema } from 'typebox';
import { attemptRoutes } from '../history/attempt-routes.ts';
import { audienceRoutes } from '../audiences/routes.ts';
import { catalogRoutes } from '../configuration/catalog-routes.ts';
import { deadLetterRoutes } from '../replays/dead-letter-routes.ts';
import { deletionRoutes } from '../deletions/routes.ts';
import { deliveryRoutes } from '../history/delivery-routes.ts';
import { destinationRoutes } from '../configuration/destination-routes.ts';
import { eventRoutes } from '../history/event-routes.ts';
import { recallRoutes } from '../replays/recall-routes.ts';
import { replayRoutes } from '../replays/replay-routes.ts';
import { sourceRoutes } from '../configuration/source-routes.ts';
import { statisticsRoutes } from '../history/statistics-routes.ts';
import { testEventRoutes } from '../configuration/test-event-routes.ts';
import { usageRoutes } from '../history/usage-routes.ts';
import { writeAudit } from './audit.ts';
import { createAuthentication } from './auth.ts';
import { failureOf, invalidRequest } from './errors.ts';
import { checkedByHandler, describeErrors, document, errorSchema } from './openapi.ts';
import { createPaths } from './paths.ts';
import type { ControlDeps, Routes, SchemaTypes } from './routes.ts';

const areas: readonly Routes[] = [
  catalogRoutes,
  sourceRoutes,
  destinationRoutes,
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
/** As long as a request line may be: names of events and users are in paths. */
const maxParameterLength = 16 * 1024;
/** A connection on which nothing moves, in either direction. */
const idleConnectionMs = 120_000;
const retryAfterS = 5;
/** For what has been asked to be answered; less than the grace of the process. */
const closeTimeoutMs = 10_000;

/** Ready, and not listening yet. */
export async function createServer(deps: ControlDeps): Promise<FastifyInstance> {
  const { log, metrics } = deps;
  const app = fastify({
    bodyLimit: maxBodyBytes,
    connectionTimeout: idleConnectionMs,
    routerOptions: { maxParamLength: maxParameterLength },
    forceCloseConnections: 'idle',
    frameworkErrors: (error, request, reply) => {
      request.failedWith = answerError(error, reply);
    },
    clientErrorHandler: (error, socket) => {
      if (!socket.writable) {
        socket.destroy();
        return;
      }
      const { code, status, message } = clientError(error);
      const body = JSON.stringify({ code, message });
      const headers = ['content-type', 'application/json; charset=utf-8'];
      headers.push('content-length', String(Buffer.byteLength(body)));
      socket.end(closingResponse(status, headers, body));
    },
  });
  app.decorateRequest('role', undefined);
  app.decorateRequest('tokenFingerprint', undefined);
  app.decorateRequest('audited', undefined);
  app.decorateRequest('failedWith', undefined);

  // Not in one: with buckets for each status of each route and method they would be thousands.
  const requests = metrics.counter('tailrace_control_requests_total', 'Requests that were answered.', [
    ...(['route', 'method', 'status'] as const),
  ]);
  const durations = metrics.histogram(
    'tailrace_control_request_duration_seconds',
    'From the request to its answer, Kafka included where it is asked.',
    { buckets: buckets.requestSeconds, labels: ['route'] },
  );
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none';
    const { statusCode, elapsedTime } = reply;
    // Where there is no route, the method may be any that the client likes.
    const method = route === 'none' ? 'any' : request.method;
    requests.inc({ route, method, status: `${Math.trunc(statusCode / 100)}xx` });
    durations.observe({ route }, elapsedTime / 1_000);
    if (route.startsWith('/v1/')) writeAudit(log, request, reply);
    done();
  });

  readBodies(app);
  checkRequests(app);
  // Answers are what the routes say; to write them by their schemas would leave out what a schema forgot.
  app.setSerializerCompiler(() => (answer) => JSON.stringify(answer));

  app.setErrorHandler((error, request, reply) => {
    const failure = failureOf(error);
    if (failure.code === 'internal-error') {
      log.error({ err: error, route: request.routeOptions.url, method: request.method }, 'a request failed');
    }
    request.failedWith = answerError(failure, reply);
  });

  await app.register(swagger, {
    openapi: document,
    refResolver: {
      buildLocalReference: ({ $id }, _base, _fragment, index) =>
        typeof $id === 'string' ? $id : `schema-${index}`,
    },
  });
  app.addSchema(errorSchema);
  await app.register(swaggerUi, { routePrefix: '/docs', staticCSP: true, uiConfig: { deepLinking: true } });

  const paths = createPaths();
  app.addHook('onRoute', (route) => {
    paths.add(route);
    if (route.url.startsWith('/v1/')) describeErrors(route);
  });
  app.setNotFoundHandler((request, reply) => {
    const allowed = paths.methodsOf(request.url);
    if (allowed.length === 0) throw new TailraceError('not-found');
    reply.header('allow', allowed.join(', '));
    throw new TailraceError('method-not-allowed', `${request.method} is not for this path.`);
  });

  app.get(
    '/openapi.json',
    {
      schema: {
        operationId: 'openapi',
        summary: 'This document',
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

/** Resolves the code that is answered. */
function answerError(error: unknown, reply: FastifyReply): string {
  const { code, status, message, problems, retryAfterS: after } = failureOf(error);
  if (hasRetryAfter(status)) reply.header('retry-after', String(after ?? retryAfterS));
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  void reply.status(status).send({ code, message, ...(problems && { problems }) });
  return code;
}

/** JSON, and nothing at all where a client announces JSON and sends none. */
function readBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    ['application/json', 'application/merge-patch+json'],
    { parseAs: 'buffer' },
    (request, body, done) => {
      if (body.length === 0) {
        done(null, undefined);
        return;
      }
      let text: string;
      try {
        text = new TextDecoder('utf-8', { fatal: true }).decode(body as Buffer);
      } catch {
        done(new TailraceError('malformed-json'));
        return;
      }
      // The parser's own errors quote the body.
      const parsed = (error: Error | null, value?: unknown): void => {
        done(error && new TailraceError('malformed-json', undefined, { cause: error }), value);
      };
      void parse(request, text, parsed);
    },
  );
}

/** What is in paths and queries is text, and taken for what the schema wants; a body is what it is. */
function checkRequests(app: FastifyInstance): void {
  const forText = new Ajv({ allErrors: true, verbose: true, useDefaults: true, coerceTypes: true });
  const forJson = new Ajv({ allErrors: true, verbose: true, useDefaults: true });
  app.setValidatorCompiler<TSchema>(({ schema, httpPart = 'body' }) => {
    if (checkedByHandler in schema) return (value: unknown) => ({ value });
    const validate = (httpPart === 'body' ? forJson : forText).compile(schema);
    return (value: unknown) =>
      validate(value) ? { value } : { error: invalidRequest(validate.errors ?? [], httpPart) };
  });
}

/** Answers the requests in flight, and closes. */
export async function closeApi(app: FastifyInstance): Promise<void> {
  await closeServer(app.server, closeTimeoutMs);
  await app.close();
}
