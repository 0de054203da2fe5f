/**
 * One JSON Schema for what a direct producer may write to `events`: derived from what an event must be, without
 * what is filled in for a producer that leaves it out, and with times in any form of ISO 8601. It is stricter than
 * `readCall`, which also reads what these do not allow: what fits it is accepted, as long as its times are times and its ids
 * are not too long. The length of ids is left out because a registry refuses a version that allows less than the one before.
 */
import { eventSchemas } from './schema.ts';

const filledIn = new Set(['messageId', 'timestamp', 'receivedAt']);
const times = new Set(['timestamp', 'receivedAt', 'originalTimestamp', 'sentAt']);
const ids = new Set(['userId', 'anonymousId', 'previousId', 'groupId']);

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
            Object.entries(properties).map(([field, rule]) => [field, ruleFor(field, rule)]),
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

function ruleFor(field: string, rule: object): object {
  if (times.has(field)) return time(rule);
  return ids.has(field) ? { ...rule, maxLength: undefined } : rule;
}

function time({ description }: { readonly description?: string }) {
  return { type: 'string', minLength: 8, description: `${description ?? ''} (ISO 8601)` };
}
