/** Parses and validates requests. */
import { TailraceError } from '@tailrace/errors';
import { parseJson } from '@tailrace/events';
import { Ajv, type Options, type ValidateFunction } from 'ajv';
import type { FastifyInstance } from 'fastify';
import type { TSchema } from 'typebox';
import { invalidRequest } from './errors.ts';
import { isNestedTooDeep, maxNesting } from './nesting.ts';
import { checkedByHandler } from './schemas.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route needs the digits of numbers that JavaScript would write differently: `exactBody` of its requests. */
    exactNumbers?: boolean;
  }
  interface FastifyRequest {
    /** The body with the digits of its numbers, for a route with `exactNumbers`. */
    exactBody: unknown;
  }
}

/** Accepts JSON bodies. An empty body is undefined, also with a JSON content type. */
export function parseJsonBodies(app: FastifyInstance): void {
  app.decorateRequest('exactBody', undefined);
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    ['application/json', 'application/merge-patch+json'],
    { parseAs: 'buffer' },
    (request, body, done) => {
      const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
      if (encoding !== 'identity') {
        const message = 'A body of JSON cannot be compressed. Send it without Content-Encoding.';
        done(new TailraceError('unsupported-encoding', message));
        return;
      }
      if (body.length === 0) {
        done(null, undefined);
        return;
      }
      if (isNestedTooDeep(body as Buffer)) {
        const message = `The body is nested deeper than ${maxNesting} levels. Send fewer levels.`;
        done(new TailraceError('malformed-json', message));
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
        if (!error && request.routeOptions.config.exactNumbers) request.exactBody = parseJson(text);
        done(error && new TailraceError('malformed-json', undefined, { cause: error }), value);
      };
      void parse(request, text, parsed);
    },
  );
}

// With strict numbers, 1e999 is coerced to Infinity and then passes every limit.
const validatorOfText = compileOnce({ allErrors: true, coerceTypes: true, strictNumbers: false });
const validatorOfJson = compileOnce({ allErrors: true });
const validatorOfLargeJson = compileOnce({ allErrors: false });

/** Many routes have the same parameters, and to compile a schema takes milliseconds. */
function compileOnce(options: Options): (schema: TSchema) => ValidateFunction {
  const ajv = new Ajv({ ...options, verbose: true, useDefaults: true });
  const compiled = new Map<string, ValidateFunction>();
  return (schema) => {
    const text = JSON.stringify(schema);
    const validate = compiled.get(text) ?? ajv.compile(schema);
    compiled.set(text, validate);
    return validate;
  };
}

/**
 * Validates requests by the schemas of their route. Paths and queries are text and are coerced; bodies are not. A problem is
 * named for each invalid field, but in a large body only the first: a list of 100,000 invalid items has 100,000 problems.
 */
export function validateRequests(app: FastifyInstance): void {
  app.setValidatorCompiler<TSchema>(({ schema, httpPart = 'body' }) => {
    if (checkedByHandler in schema) return (value: unknown) => ({ value });
    const validateAll = (httpPart === 'body' ? validatorOfJson : validatorOfText)(schema);
    const validateLarge = httpPart === 'body' ? validatorOfLargeJson(schema) : validateAll;
    return (value: unknown) => {
      const validate = isLarge(value) ? validateLarge : validateAll;
      return validate(value) ? { value } : { error: invalidRequest(validate.errors ?? [], httpPart) };
    };
  });
}

const largeFrom = 1_000;

/** Whether a value has many parts on its first two levels. */
function isLarge(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const parts = Object.values(value) as unknown[];
  if (parts.length >= largeFrom) return true;
  return parts.some(
    (part) => typeof part === 'object' && part !== null && Object.keys(part).length >= largeFrom,
  );
}
