/**
 * Finishes the OpenAPI document for generators of clients: names the schemas, states which bodies may be missing, and adds
 * an example to every body and answer.
 *
 * A schema with a title is a component of this name wherever it stands. A body or an answer without a title is named after its
 * operation, as `CreateSourceInput` or `CreateSourceAnswer`.
 */
import { isDeepStrictEqual } from 'node:util';
import { exampleOf } from './examples.ts';
import { bodyOf, mapSchemas, withoutDefaults, type JsonSchema } from './json-schema.ts';

interface Content {
  schema?: JsonSchema;
  example?: unknown;
}
interface Operation {
  readonly operationId?: string;
  readonly parameters?: { name: string; required?: boolean; schema?: JsonSchema; example?: unknown }[];
  readonly requestBody?: { required?: boolean; content: Record<string, Content> };
  readonly responses?: Record<string, { description?: string; content?: Record<string, Content> }>;
}
export interface OpenApiDocument {
  paths?: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, JsonSchema> };
}

const json = 'application/json';
const lines = 'application/x-ndjson';

/** Changes and returns the document. @throws Error if two different schemas have one name: a defect */
export function finishDocument(document: OpenApiDocument): OpenApiDocument {
  const components = new Map(Object.entries(document.components?.schemas ?? {}));
  const named = (schema: JsonSchema): JsonSchema => {
    const { title, ...inner } = mapSchemas(schema, named);
    if (title === undefined) return inner;
    const known = components.get(title) ?? inner;
    if (!isDeepStrictEqual({ ...known, description: '' }, { ...inner, description: '' })) {
      throw new Error(`Two schemas of the API have the title ${title}; give one of them another`);
    }
    components.set(title, known);
    const $ref = `#/components/schemas/${title}`;
    const { description } = inner;
    return description === undefined || description === known.description ? { $ref } : { $ref, description };
  };
  const nameAs = (schema: JsonSchema, title: string): JsonSchema => {
    const isNamed = schema.title !== undefined || schema.$ref !== undefined;
    return named(isNamed || schema.type !== 'object' ? schema : { ...schema, title });
  };

  const operations = Object.values(document.paths ?? {}).flatMap((methods) => Object.values(methods));
  for (const { operationId = '', parameters = [], requestBody, responses = {} } of operations) {
    const name = `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}`;
    for (const parameter of parameters) {
      if (parameter.required) parameter.example = exampleOf(parameter.schema ?? {}, parameter.name);
    }
    const body = requestBody?.content[json];
    if (requestBody && body?.schema) {
      const { schema, required } = bodyOf(body.schema);
      requestBody.required = required;
      body.example ??= exampleOf(schema);
      body.schema = nameAs(withoutDefaults(schema), `${name}Input`);
    }
    for (const [status, response] of Object.entries(responses)) {
      const line = response.content?.[lines];
      if (line?.schema) line.schema = named(line.schema);
      const answer = response.content?.[json];
      if (!status.startsWith('2') || !answer?.schema) continue;
      if (response.description === 'Default Response') response.description = 'done';
      answer.example ??= exampleOf(answer.schema);
      answer.schema = nameAs(answer.schema, `${name}Answer`);
    }
  }
  document.components = { ...document.components, schemas: Object.fromEntries([...components].sort(byName)) };
  return document;
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}
