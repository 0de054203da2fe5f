/** Parses and validates requests. */
import { TailraceError } from '@tailrace/errors';
import { Ajv } from 'ajv';
import type { FastifyInstance } from 'fastify';
import type { TSchema } from 'typebox';
import { invalidRequest } from './errors.ts';
import { checkedByHandler } from './openapi.ts';

/** Accepts JSON bodies. An empty body is undefined, also with a JSON content type. */
export function parseJsonBodies(app: FastifyInstance): void {
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

/** Validates requests by the schemas of their route. Paths and queries are text and are coerced; bodies are not. */
export function validateRequests(app: FastifyInstance): void {
  const forText = new Ajv({ allErrors: true, verbose: true, useDefaults: true, coerceTypes: true });
  const forJson = new Ajv({ allErrors: true, verbose: true, useDefaults: true });
  app.setValidatorCompiler<TSchema>(({ schema, httpPart = 'body' }) => {
    if (checkedByHandler in schema) return (value: unknown) => ({ value });
    const validate = (httpPart === 'body' ? forJson : forText).compile(schema);
    return (value: unknown) =>
      validate(value) ? { value } : { error: invalidRequest(validate.errors ?? [], httpPart) };
  });
}
