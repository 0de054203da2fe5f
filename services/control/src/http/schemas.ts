/** What the schemas of all routes share: names in the OpenAPI document, bodies that handlers check, and entity tags. */
import Type, { type Static, type TProperties, type TSchema } from 'typebox';

/** A schema that is a component of the document. Two different schemas may not have one name. */
export function named<Of extends TSchema>(title: string, schema: Of): Of {
  return { ...schema, title };
}

export function namedObject<Fields extends TProperties>(title: string, fields: Fields, options = {}) {
  return named(title, Type.Object(fields, options));
}

/** The parameters of a path, a query or a body that has no other fields. */
export function closedObject<Fields extends TProperties>(fields: Fields) {
  return Type.Object(fields, { additionalProperties: false });
}

export function optionalText(description: string) {
  return Type.Optional(Type.String({ description }));
}

export function time(description?: string) {
  return Type.String({ format: 'date-time', ...(description !== undefined && { description }) });
}

/** Marks a schema that is only shown in the document. The handler validates the body, with better messages. */
export const checkedByHandler = 'x-checked-by-handler';

export function documentOnly<Shown extends TSchema>(schema: Shown, description: string) {
  return Type.Unsafe<Static<Shown> | undefined>({ ...schema, description, [checkedByHandler]: true });
}

/** As {@link documentOnly}, for a body whose schema is a variant of the entry's. */
export function bodyOnly(schema: object) {
  return Type.Unsafe<unknown>({ ...schema, [checkedByHandler]: true });
}

export const ifMatch = Type.Object({
  'if-match': Type.Optional(
    Type.String({ description: 'the ETag that the entry must have; without it, any version is changed' }),
  ),
});

export const etagHeader = { ETag: { type: 'string', description: 'the version of the entry, for If-Match' } };
