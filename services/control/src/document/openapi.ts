/**
 * The OpenAPI 3.1 document, generated from the routes, their schemas and the table of errors. A route names its own error
 * codes in its `config`; the codes that every route shares are added here.
 */
import { errorTable, type ErrorCode } from '@tailrace/errors';
import { errorResponses } from '@tailrace/service';
import type { RouteOptions } from 'fastify';
import Type, { type TSchema } from 'typebox';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The error codes of this route, in addition to those of all routes. */
    errors?: readonly ErrorCode[];
  }
}

export const errorSchema = Type.Object(
  {
    code: Type.Enum(Object.keys(errorTable) as [ErrorCode], { description: 'a code of the error reference' }),
    message: Type.String({ description: 'what is wrong, and how to fix it' }),
    problems: Type.Optional(
      Type.Array(
        Type.Object({
          field: Type.String({ description: 'the field, for example settings.webhooks[0].url' }),
          rule: Type.String({ description: 'the rule that the field breaks' }),
        }),
        { description: 'every invalid field' },
      ),
    ),
  },
  { $id: 'Error' },
);

const errorsOfAll = [
  'malformed-request',
  'invalid-request',
  'unauthorized',
  'not-found',
  'forbidden',
  'too-many-requests',
  'internal-error',
  'kafka-unavailable',
  'topic-missing',
  'shutting-down',
] as const satisfies ErrorCode[];
const errorsOfWrites = [
  'malformed-json',
  'body-too-large',
  'unsupported-media-type',
  'unsupported-encoding',
] as const;
/** Of the Idempotency-Key. */
const errorsOfPosts = ['conflict', 'idempotency-key-reused', 'too-many-at-once'] as const;
const retryAfter = { type: 'integer', description: 'seconds to wait before the request is sent again' };

/**
 * Adds the error answers of a route to its schema: one for each status, since OpenAPI distinguishes only statuses.
 *
 * @param limited the operations that are refused while too many of them run
 */
export function describeErrors(route: RouteOptions, limited: ReadonlySet<string>): void {
  const { method, config, schema = {} } = route;
  const isRead = method === 'GET' || method === 'HEAD';
  const isPost = method === 'POST';
  const { operationId = '' } = schema as { readonly operationId?: string };
  const codes = new Set<ErrorCode>([
    ...errorsOfAll,
    ...(limited.has(operationId) ? (['too-many-at-once'] as const) : []),
    ...(isRead ? [] : errorsOfWrites),
    ...(isPost ? errorsOfPosts : []),
    ...(config?.errors ?? []),
  ]);
  const documented = schema.response as Record<string, unknown> | undefined;
  route.schema = {
    ...schema,
    ...(isPost && { headers: withIdempotencyKey(schema.headers) }),
    response: { ...documented, ...errorResponses(codes, { $ref: 'Error#' }, retryAfter) },
  };
}

/** Every POST may have an Idempotency-Key. */
function withIdempotencyKey(headers: unknown) {
  const { properties = {} } = (headers ?? {}) as { readonly properties?: Record<string, TSchema> };
  const key = Type.String({
    pattern: '^[\\x21-\\x7e]{1,255}$',
    description:
      '1 to 255 visible ASCII characters, such as a random UUID: for 24 hours the same request with the same key is ' +
      'executed once, and answered alike',
  });
  return Type.Object({ ...properties, 'idempotency-key': Type.Optional(key) });
}

export const document = {
  openapi: '3.1.0',
  info: {
    title: 'Tailrace control',
    version: '1',
    description:
      'Manage sources and destinations, look up events and deliveries, replay dead letters. Answers are JSON. An error has ' +
      'a `code` and a `message`; a list has `next` if there are more items.',
  },
  servers: [{ url: '/' }],
  components: {
    securitySchemes: {
      token: {
        type: 'http' as const,
        scheme: 'bearer',
        description: 'a token of TAILRACE_API_TOKEN or TAILRACE_API_READ_TOKEN, or one that createToken made',
      },
    },
  },
  security: [{ token: [] }],
};
