/** The parts of JSON Schema that the OpenAPI document is made from, and variants of schemas for requests. */

export interface JsonSchema {
  readonly $ref?: string;
  readonly title?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
}

const nothing: JsonSchema = { type: 'null' };

/** A schema as another one, in which the fields `optional` may be missing. */
export function inputOf(schema: JsonSchema, title: string, optional: readonly string[]): JsonSchema {
  return { ...schema, title, required: schema.required?.filter((name) => !optional.includes(name)) ?? [] };
}

/** The bodies of a JSON Merge Patch: every field may be missing, and null removes a field that may be missing in the entry. */
export function patchOf(schema: JsonSchema): JsonSchema {
  const { required = [], properties, title, ...rest } = schema;
  if (!properties) return schema;
  const patched = Object.entries(properties).map(([name, property]): [string, JsonSchema] => {
    const changed = patchOf(property);
    if (required.includes(name)) return [name, changed];
    const { description } = property;
    return [name, { ...(description !== undefined && { description }), anyOf: [changed, nothing] }];
  });
  return {
    ...rest,
    ...(title !== undefined && { title: `${title}Patch` }),
    properties: Object.fromEntries(patched),
  };
}

/** A body that may be missing. */
export function orNothing(schema: JsonSchema): JsonSchema {
  return { anyOf: [schema, nothing] };
}

/** The schema of a body, and whether the body must be there. */
export function bodyOf(schema: JsonSchema): { readonly schema: JsonSchema; readonly required: boolean } {
  const others = schema.anyOf?.filter(({ type }) => type !== 'null');
  const [only] = others ?? [];
  if (!only || others?.length !== 1 || schema.anyOf?.length !== 2) return { schema, required: true };
  return { schema: only, required: false };
}

/**
 * Without defaults, which the descriptions state instead. Generators of clients take a field with a default for one that is always there: right for
 * an answer, wrong for a request.
 */
export function withoutDefaults(schema: JsonSchema): JsonSchema {
  const { default: value, ...rest } = mapSchemas(schema, withoutDefaults);
  if (value === undefined) return rest;
  const stated = `default: ${JSON.stringify(value)}`;
  return { ...rest, description: rest.description === undefined ? stated : `${rest.description}; ${stated}` };
}

/** A copy of a schema with `change` applied to the schemas directly in it. */
export function mapSchemas(schema: JsonSchema, change: (schema: JsonSchema) => JsonSchema): JsonSchema {
  const { properties, additionalProperties, items, anyOf, oneOf, allOf } = schema;
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, change(property)]),
      ),
    }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: change(additionalProperties) }),
    ...(items && { items: change(items) }),
    ...(anyOf && { anyOf: anyOf.map(change) }),
    ...(oneOf && { oneOf: oneOf.map(change) }),
    ...(allOf && { allOf: allOf.map(change) }),
  };
}
