/** Every failure of a request as an error of the one table, so that every answer can be looked up there. */
import { isTailraceError, TailraceError, type ErrorCode, type FieldProblem } from '@tailrace/errors';
import type { ErrorObject } from 'ajv';

/** The framework's own codes; what is not among them and came from nobody else is a defect. */
const codes: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_BAD_URL: 'malformed-request',
  FST_ERR_CTP_BODY_TOO_LARGE: 'body-too-large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported-media-type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'malformed-request',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'malformed-json',
  FST_ERR_CTP_INVALID_JSON_BODY: 'malformed-json',
  // Said of the method QUERY alone, which no path has.
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: 'method-not-allowed',
  // The request ended before its body did.
  ECONNRESET: 'malformed-request',
  ERR_HTTP_REQUEST_TIMEOUT: 'request-timeout',
};

export function failureOf(error: unknown): TailraceError {
  if (isTailraceError(error)) return error;
  const { code } = error as { readonly code?: unknown };
  const known = typeof code === 'string' ? codes[code] : undefined;
  return new TailraceError(known ?? 'internal-error', undefined, { cause: error as Error });
}

/** What a schema says of `part` (`body`, `querystring`, `params`), as problems of its fields. */
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
  if (additionalProperty !== undefined) return { field, rule: 'is not known here' };
  if (missingProperty !== undefined) return { field, rule: 'is missing' };
  const { description } = error.parentSchema as { readonly description?: string };
  return { field, rule: description === undefined ? (error.message ?? 'is wrong') : `is not ${description}` };
}
