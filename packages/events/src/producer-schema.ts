/**
 * The JSON Schema of calls that a direct producer may write to `events`. It is derived from the schemas of events: fields that
 * the router fills in are optional, and times may have any form of ISO 8601. It is stricter than `readCall`: every call that
 * matches it is accepted, as long as its times are valid and its ids are not too long. The length of ids is not part of it,
 * because a registry refuses a version that is stricter than the previous one.
 */
import { eventSchemas } from './schema.ts';

const filledIn = new Set(['messageId', 'timestamp', 'receivedAt']);
const times = new Set(['timestamp', 'receivedAt', 'originalTimestamp', 'sentAt']);
const ids = new Set(['userId', 'anonymousId', 'previousId', 'groupId']);

/** In draft 7, which all client libraries support. */
export function producerSchema(): Readonly<Record<string, unknown>> {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'TailraceEvent',
    description: 'A tracking call',
    oneOf: Object.entries(eventSchemas).map(([type, schema]) => {
      const { properties, required, ...rest } = plain(schema);
      return {
        title: type,
        ...rest,
        required: required.filter((field) => !filledIn.has(field)),
        properties: {
          ...Object.fromEntries(
            Object.entries(properties).map(([field, rule]) => [field, ruleFor(field, rule)]),
          ),
          writeKey: {
            type: 'string',
            description: 'The write key of the source, where no Kafka header names the source',
          },
        },
      };
    }),
  };
}

interface ObjectSchema {
  readonly properties: Readonly<Record<string, { readonly description?: string }>>;
  readonly required: readonly string[];
}

/** The schema without TypeBox's internal properties. */
function plain(schema: object): ObjectSchema {
  return JSON.parse(JSON.stringify(schema)) as ObjectSchema;
}

function ruleFor(field: string, rule: object): object {
  if (times.has(field)) return time(rule);
  return ids.has(field) ? { ...rule, maxLength: undefined } : rule;
}

function time({ description }: { readonly description?: string }) {
  return { type: 'string', minLength: 8, description: `${description ?? ''} (ISO 8601)` };
}
