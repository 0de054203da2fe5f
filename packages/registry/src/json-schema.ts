/** JSON Schema: which draft a schema is in decides who checks by it. */
import type { AnySchema, ValidateFunction } from 'ajv';
import { Ajv } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';

/** A schema is to be followed where it is understood; what Ajv would rather have written otherwise is no concern here. */
const options = { strict: false, validateFormats: false, logger: false } as const;

/**
 * For the registry's client, which compiles each schema after it has added those that it refers to. A new
 * validator for each, because two versions of a schema usually have the same `$id`.
 */
export function schemaCompiler(): {
  addSchema: (schema: AnySchema | AnySchema[], key?: string) => Ajv;
  compile: (schema: unknown) => ValidateFunction;
} {
  let referenced: [schema: AnySchema | AnySchema[], key: string | undefined][] = [];
  return {
    addSchema(schema, key) {
      referenced.push([schema, key]);
      // The client has no use for what Ajv would return.
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

/** Where a number may be that is beyond what JavaScript has, and read as Infinity. */
const maybeInfinite = /[eE]\+?\d{3}|\d{309}/;

/** A value as validators can check it: what is beyond the largest number that JavaScript has is that number. */
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
