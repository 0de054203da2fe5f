/** Errors of the API: every failure of a request becomes an error of the one table in packages/errors. */
import type { Socket } from 'node:net';
import { isTailraceError, TailraceError, type ErrorCode, type FieldProblem } from '@tailrace/errors';
import { clientError, closingResponse, hasRetryAfter } from '@tailrace/service';
import type { ErrorObject } from 'ajv';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** The codes of fastify and Node.js. An error with any other code is a defect. */
const codes: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_BAD_URL: 'malformed-request',
  FST_ERR_CTP_BODY_TOO_LARGE: 'body-too-large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported-media-type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'malformed-request',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'malformed-json',
  FST_ERR_CTP_INVALID_JSON_BODY: 'malformed-json',
  // A file of the reference page, such as /docs/static/%00.
  FST_STATIC_FORBIDDEN_PATH: 'not-found',
  // The connection ended before the body did.
  ECONNRESET: 'malformed-request',
  ERR_HTTP_REQUEST_TIMEOUT: 'request-timeout',
};
const defaultRetryAfterS = 5;

export function toTailraceError(error: unknown): TailraceError {
  if (isTailraceError(error)) return error;
  const { code } = error as { readonly code?: unknown };
  const known = typeof code === 'string' ? codes[code] : undefined;
  return new TailraceError(known ?? 'internal-error', undefined, { cause: error as Error });
}

/** Sends the error, after its code is set for the audit log, which is written when the answer has been sent. */
export function sendError(error: TailraceError, request: FastifyRequest, reply: FastifyReply): void {
  const { code, status, message, problems, retryAfterS = defaultRetryAfterS } = error;
  request.errorCode = code;
  if (hasRetryAfter(status)) reply.header('retry-after', String(retryAfterS));
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  void reply.status(status).send(bounded({ code, message, ...(problems && { problems }) }));
}

interface ErrorAnswer {
  readonly code: ErrorCode;
  readonly message: string;
  readonly problems?: readonly FieldProblem[];
}

const maxProblems = 20;
const maxTextLength = 300;
const maxMessageLength = 4_000;

/** Input is quoted in messages, and a request may have 100,000 invalid fields. The answer stays below 16 KB. */
function bounded({ code, message, problems = [] }: ErrorAnswer): ErrorAnswer {
  const rest = problems.length - maxProblems;
  return {
    code,
    message:
      rest > 0
        ? `${shorten(message, maxMessageLength)} And ${rest} more problems.`
        : shorten(message, maxMessageLength),
    ...(problems.length > 0 && {
      problems: problems.slice(0, maxProblems).map(({ field, rule }) => ({
        field: shorten(field, maxTextLength),
        rule: shorten(rule, maxTextLength),
      })),
    }),
  };
}

function shorten(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}…`;
}

/** What is answered is for its caller, so no cache keeps it; files set their own. Browsers take no answer for another type than it has. */
export const protection = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** Answers bytes that are not an HTTP request, or a request that did not arrive in time, and closes the connection. */
export function sendClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const { code, status, message } = clientError(error);
  const body = JSON.stringify({ code, message });
  const headers = ['content-type', 'application/json; charset=utf-8'];
  headers.push('content-length', String(Buffer.byteLength(body)), ...Object.entries(protection).flat());
  socket.end(closingResponse(status, headers, body));
}

/** @param kind of what has no such id: `source` */
export function entryNotFound(kind: string, id: string): TailraceError {
  return new TailraceError('not-found', `There is no ${kind} ${JSON.stringify(id)}.`);
}

/** @param rule the end of a sentence that begins with the field */
export function invalidField(field: string, rule: string): TailraceError {
  return new TailraceError('invalid-request', `${field} ${rule}.`, { problems: [{ field, rule }] });
}

/**
 * What a schema found wrong in `part` (`body`, `querystring` or `params`) of a request. A field's `description` in its
 * schema completes the sentence "<field> is not …".
 */
export function invalidRequest(errors: readonly ErrorObject[], part: string): TailraceError {
  const problems = errors.map((error) => problemOf(error, part));
  const sentences = problems.map(({ field, rule }) => `${field} ${rule}.`);
  return new TailraceError('invalid-request', [...new Set(sentences)].join(' '), { problems });
}

function problemOf(error: ErrorObject, part: string): FieldProblem {
  const names = error.instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const { additionalProperty, missingProperty } = error.params as Readonly<
    Record<string, string | undefined>
  >;
  const extra = additionalProperty ?? missingProperty;
  const steps = extra === undefined ? names : [...names, extra];
  const field = steps.length === 0 ? `the ${part === 'querystring' ? 'query' : part}` : steps.join('.');
  if (additionalProperty !== undefined) return { field, rule: 'is unknown' };
  if (missingProperty !== undefined) return { field, rule: 'is missing' };
  const { description } = error.parentSchema as { readonly description?: string };
  return {
    field,
    rule: description === undefined ? (error.message ?? 'is invalid') : `is not ${description}`,
  };
}
