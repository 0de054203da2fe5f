/**
 * The OpenAPI 3.1 document, generated from the routes, their schemas and the table of errors. A route names its own error
 * codes in its `config`; the codes that every route shares are added here.
 */
import { errorTable, type ErrorCode } from '@tailrace/errors';
import { errorResponses } from '@tailrace/service';
import type { RouteOptions } from 'fastify';
import Type, { type Static, type TSchema } from 'typebox';

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
  ...['malformed-request', 'invalid-request', 'unauthorized', 'not-found'],
  ...['internal-error', 'kafka-unavailable', 'topic-missing', 'shutting-down'],
] as const satisfies ErrorCode[];
const errorsOfWrites = ['forbidden', 'malformed-json', 'body-too-large', 'unsupported-media-type'] as const;
const retryAfter = { type: 'integer', description: 'seconds to wait before the request is sent again' };

/** Adds the error answers of a route to its schema: one for each status, since OpenAPI distinguishes only statuses. */
export function describeErrors(route: RouteOptions): void {
  const { method, config, schema = {} } = route;
  const isRead = method === 'GET' || method === 'HEAD';
  const codes = new Set<ErrorCode>([
    ...errorsOfAll,
    ...(isRead ? [] : errorsOfWrites),
    ...(config?.errors ?? []),
  ]);
  const documented = schema.response as Record<string, unknown> | undefined;
  route.schema = {
    ...schema,
    response: { ...documented, ...errorResponses(codes, { $ref: 'Error#' }, retryAfter) },
  };
}

/** Marks a schema that is only shown in the document. The handler validates the body, with better messages. */
export const checkedByHandler = 'x-checked-by-handler';

export function documentOnly<Shown extends TSchema>(schema: Shown, description: string) {
  return Type.Unsafe<Static<Shown> | undefined>({ ...schema, description, [checkedByHandler]: true });
}

export const ifMatch = Type.Object({
  'if-match': Type.Optional(
    Type.String({ description: 'the ETag that the entry must have; without it, any version is changed' }),
  ),
});

export const etagHeader = { ETag: { type: 'string', description: 'the version of the entry, for If-Match' } };

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
        description: 'a token of TAILRACE_API_TOKEN, or of TAILRACE_API_READ_TOKEN for GET and HEAD',
      },
    },
  },
  security: [{ token: [] }],
};
