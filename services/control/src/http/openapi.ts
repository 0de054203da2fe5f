/**
 * The OpenAPI 3.1 document, made from what is in force: the routes, their schemas, and the table of errors. A route
 * names the codes it may answer with in its `config`, and what every route may answer is added here.
 */
import { errorTable, type ErrorCode } from '@tailrace/errors';
import { errorResponses } from '@tailrace/service';
import type { RouteOptions } from 'fastify';
import Type, { type Static, type TSchema } from 'typebox';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What may go wrong here, beside what may go wrong with every request. */
    errors?: readonly ErrorCode[];
  }
}

export const errorSchema = Type.Object(
  {
    code: Type.Enum(Object.keys(errorTable) as [ErrorCode], { description: 'see the table of errors' }),
    message: Type.String({ description: 'what is wrong, and how to fix it' }),
    problems: Type.Optional(
      Type.Array(
        Type.Object({
          field: Type.String({ description: 'the field, such as settings.webhooks[0].url' }),
          rule: Type.String({ description: 'the rule that it breaks' }),
        }),
        { description: 'each field that is wrong' },
      ),
    ),
  },
  { $id: 'Error' },
);

const ofAll = [
  ...['malformed-request', 'invalid-request', 'unauthorized', 'not-found'],
  ...['internal-error', 'kafka-unavailable', 'topic-missing', 'shutting-down'],
] as const satisfies ErrorCode[];
const ofWrites = ['forbidden', 'malformed-json', 'body-too-large', 'unsupported-media-type'] as const;

/** Documents the errors of a route of the API, one answer for each status, which is what OpenAPI can tell apart. */
export function describeErrors(route: RouteOptions): void {
  const { method, config, schema = {} } = route;
  const isRead = method === 'GET' || method === 'HEAD';
  const codes = new Set<ErrorCode>([...ofAll, ...(isRead ? [] : ofWrites), ...(config?.errors ?? [])]);
  const documented = schema.response as Record<string, unknown> | undefined;
  route.schema = {
    ...schema,
    response: { ...documented, ...errorResponses(codes, { $ref: 'Error#' }, retryAfter) },
  };
}

const retryAfter = { type: 'integer', description: 'seconds after which to send it again' };

/**
 * `schema` as the document shows it, of what a handler checks by itself, with rules and messages that a schema does not
 * have.
 */
export function asIs<Shown extends TSchema>(schema: Shown, description: string) {
  return Type.Unsafe<Static<Shown> | undefined>({ ...schema, description, [checkedByHandler]: true });
}

/** Marks schemas that are there to be read. */
export const checkedByHandler = 'x-checked-by-handler';

export const ifMatch = Type.Object({
  'if-match': Type.Optional(
    Type.String({ description: 'the ETag that it must still have; without one, it may be any' }),
  ),
});

export const etagHeader = { ETag: { type: 'string', description: 'its version, for If-Match' } };

export const document = {
  openapi: '3.1.0',
  info: {
    title: 'Tailrace control',
    version: '1',
    description:
      'What goes where, what happened to it, and what becomes of it. Every answer is JSON; errors have a `code` and a ' +
      '`message`, lists a `next` where there is more.',
  },
  servers: [{ url: '/' }],
  components: {
    securitySchemes: {
      token: {
        type: 'http' as const,
        scheme: 'bearer',
        description: 'TAILRACE_API_TOKEN, or a read-only token',
      },
    },
  },
  security: [{ token: [] }],
};
