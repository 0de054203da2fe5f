/** Compiles JSON Schemas, with the validator of the draft that each is written in. */
import type { AnySchema, ValidateFunction } from 'ajv';
import { Ajv } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { RE2JS } from 're2js';

/**
 * Takes time in proportion to the text, whatever the pattern. One with a look-around or a back-reference is refused.
 *
 * @throws SyntaxError if the pattern cannot be used
 */
function linear(pattern: string): { test(text: string): boolean } {
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
    return { test: (text) => compiled.matcher(text).find() };
  } catch (error) {
    throw new SyntaxError(`the pattern ${pattern} cannot be used: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** Schemas belong to producers, so Ajv's recommendations on style are turned off. */
const options = {
  strict: false,
  validateFormats: false,
  logger: false,
  code: { regExp: Object.assign(linear, { code: 'linear' }) },
} as const;

/**
 * For the client of the registry, which adds the schemas that a schema refers to before it compiles it. Each schema gets a new
 * validator, because two versions of a schema usually have the same `$id`.
 */
export function schemaCompiler(): {
  addSchema: (schema: AnySchema | AnySchema[], key?: string) => Ajv;
  compile: (schema: unknown) => ValidateFunction;
} {
  let referenced: [schema: AnySchema | AnySchema[], key: string | undefined][] = [];
  return {
    addSchema(schema, key) {
      referenced.push([schema, key]);
      // The client does not use the return value.
      return undefined as unknown as Ajv;
    },
    compile(schema) {
      const Validator = validatorOf((schema as { $schema?: unknown } | null)?.$schema);
      const validator = new Validator(options);
      for (const [other, key] of referenced) validator.addSchema(other, key);
      referenced = [];
      return validator.compile(schema as AnySchema);
    },
  };
}

/** Matches texts that may contain a number that JavaScript reads as Infinity. */
const maybeInfinite = /[eE]\+?\d{3}|\d{309}/;

/** A value that validators can check: numbers beyond the largest one of JavaScript are replaced by that one. */
export function parseForValidator(text: string): unknown {
  if (!maybeInfinite.test(text)) return JSON.parse(text) as unknown;
  return JSON.parse(text, (_key, value: unknown) =>
    typeof value === 'number' && !Number.isFinite(value) ? Math.sign(value) * Number.MAX_VALUE : value,
  ) as unknown;
}

function validatorOf(draft: unknown): typeof Ajv | typeof Ajv2019 | typeof Ajv2020 {
  if (typeof draft !== 'string') return Ajv;
  if (draft.includes('2020-12')) return Ajv2020;
  return draft.includes('2019-09') ? Ajv2019 : Ajv;
}
