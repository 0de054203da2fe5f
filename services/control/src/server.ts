/** The HTTP side of the control plane: who may ask, what is understood, and how every answer looks. */
import { setTimeout as wait } from 'node:timers/promises';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { TailraceError } from '@tailrace/errors';
import { buckets } from '@tailrace/service';
import { Ajv } from 'ajv';
import fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyTypeProvider,
  type RawServerDefault,
  type RawRequestDefaultExpression,
  type RawReplyDefaultExpression,
  type FastifyBaseLogger,
} from 'fastify';
import type { Static, TSchema } from 'typebox';
import { attemptRoutes } from './api/attempts.ts';
import { audienceRoutes } from './api/audiences.ts';
import { catalogRoutes } from './api/catalog.ts';
import { deadLetterRoutes } from './api/dead-letters.ts';
import { deletionRoutes } from './api/deletions.ts';
import { deliveryRoutes } from './api/deliveries.ts';
import { destinationRoutes } from './api/destinations.ts';
import { eventRoutes } from './api/events.ts';
import { recallRoutes } from './api/recalls.ts';
import { replayRoutes } from './api/replays.ts';
import { sourceRoutes } from './api/sources.ts';
import { statisticsRoutes } from './api/statistics.ts';
import { testEventRoutes } from './api/test-event.ts';
import { usageRoutes } from './api/usage.ts';
import { writeAudit } from './audit.ts';
import { createAuthentication } from './auth.ts';
import type { ControlDeps } from './deps.ts';
import { failureOf, invalidRequest } from './failure.ts';
import { checkedByHandler, describeErrors, document, errorSchema } from './openapi.ts';
import { createPaths } from './paths.ts';

/** The types of a request follow from the schemas of its route. */
interface SchemaTypes extends FastifyTypeProvider {
  validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
  serializer: unknown;
}

export type Api = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  SchemaTypes
>;

/** Adds the routes of one area; paths are below `/v1`. */
export type Routes = (app: Api, deps: ControlDeps) => void;

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
      const timedOut = (error as NodeJS.ErrnoException).code === 'ERR_HTTP_REQUEST_TIMEOUT';
      const { code, status, message } = new TailraceError(timedOut ? 'request-timeout' : 'malformed-request');
      const body = JSON.stringify({ code, message });
      const head = [
        `HTTP/1.1 ${status} ${timedOut ? 'Request Timeout' : 'Bad Request'}`,
        'connection: close',
        'content-type: application/json; charset=utf-8',
        `content-length: ${Buffer.byteLength(body)}`,
      ];
      socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
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
  if (status === 503 || status === 429) reply.header('retry-after', String(after ?? retryAfterS));
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

/** Takes no more requests, answers what has been asked, and closes. */
export async function closeServer(app: FastifyInstance): Promise<void> {
  const { server } = app;
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  const late = await Promise.race([closed, wait(closeTimeoutMs, 'late', { ref: false })]);
  if (late === 'late') server.closeAllConnections();
  await closed;
  await app.close();
}
