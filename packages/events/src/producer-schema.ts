/**
 * One JSON Schema for what a direct producer may write to `events`: derived from what an event must be, without
 * what is filled in for a producer that leaves it out, and with times in any form of ISO 8601. It is stricter than
 * `readCall`, which mends: what fits it is taken, as long as its times are times.
 */
import { eventSchemas } from './schema.ts';

const filledIn = new Set(['messageId', 'timestamp', 'receivedAt']);
const times = new Set(['timestamp', 'receivedAt', 'originalTimestamp', 'sentAt']);

/** As it is registered, in draft 7, which every producer's library knows. */
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
            Object.entries(properties).map(([field, rule]) => [field, times.has(field) ? time(rule) : rule]),
          ),
          writeKey: { type: 'string', description: 'Names the source, where no Kafka header does' },
        },
      };
    }),
  };
}

interface ObjectSchema {
  readonly properties: Readonly<Record<string, { readonly description?: string }>>;
  readonly required: readonly string[];
}

/** Without what TypeBox keeps in it for itself. */
function plain(schema: object): ObjectSchema {
  return JSON.parse(JSON.stringify(schema)) as ObjectSchema;
}

function time({ description }: { readonly description?: string }) {
  return { type: 'string', minLength: 8, description: `${description ?? ''} (ISO 8601)` };
}
