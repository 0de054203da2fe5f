/** Examples for the OpenAPI document: those of the schemas, and otherwise values that the schemas allow. */
import type { JsonSchema } from './json-schema.ts';

/** By the name of the field. Fields of the same name mean the same in the whole API. */
const texts: Readonly<Record<string, string>> = {
  id: 'web',
  source: 'web',
  sourceId: 'web',
  destination: 'crm',
  destinationId: 'crm',
  deliveryId: '5f0c6a8e-1d9b-5a0c-8f3e-2b7d9c1e4a60',
  eventId: 'order-1042',
  messageId: 'order-1042',
  event: 'Order Completed',
  userId: 'ada',
  userKey: 'ada',
  userIds: 'ada',
  requestId: 'ticket-4711',
  type: 'track',
  name: 'Website',
  writeKey: 'wk_1b9PpKb0T5hCq3m8XfJ2YxQa',
  writeKeys: 'wk_1b9PpKb0T5hCq3m8XfJ2YxQa',
  key: 'wk_1b9PpKb0T5hCq3m8XfJ2YxQa',
  url: 'https://crm.example.com/hook',
  reason: 'timeout',
  destinations: 'crm',
  sharedSecret: 's3cret',
  keepPreviousFor: '24h',
  target: 'destination/crm',
  action: 'destination.update',
  createdBy: 'TAILRACE_API_TOKEN',
  sources: 'web',
  step: '1h',
  since: '2h',
  until: '2026-05-01T08:30Z',
  next: 'IndlYiI',
  cursor: 'IndlYiI',
};
const time = '2026-05-01T08:30:00.000Z';

/** A value that the schema allows; undefined where there is none that can be derived. @param name of the field */
export function exampleOf(schema: JsonSchema, name = ''): unknown {
  const { examples, const: constant, enum: choices, type, properties, required = [] } = schema;
  if (examples) return examples[0];
  if (constant !== undefined) return constant;
  if (choices) return choices.includes(texts[name]) ? texts[name] : choices[0];
  if (schema.default !== undefined) return schema.default;
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives) {
    const [first] = alternatives.filter((alternative) => alternative.type !== 'null');
    return first && exampleOf(first, name);
  }
  if (schema.allOf) {
    return Object.assign({}, ...schema.allOf.map((part) => exampleOf(part, name) as object)) as object;
  }
  switch (typeof type === 'object' ? type[0] : type) {
    case 'object': {
      const fields = Object.entries(properties ?? {}).flatMap(([field, property]) => {
        const value = exampleOf(property, field);
        return value === undefined && !required.includes(field) ? [] : [[field, value] as const];
      });
      return Object.fromEntries(fields);
    }
    case 'array': {
      const item = schema.items && exampleOf(schema.items, name);
      return item === undefined ? [] : [item];
    }
    case 'string':
      return schema.format === 'date-time' ? time : (texts[name] ?? 'text');
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return true;
    case 'null':
      return null;
    case undefined:
    default:
      // Any value is allowed, unless the schema is elsewhere: it may contain itself.
      return schema.$ref === undefined ? {} : undefined;
  }
}
