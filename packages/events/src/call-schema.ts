/**
 * JSON Schemas (2020-12) of the calls that a sender may write, for people and tools, such as the OpenAPI document of ingest.
 * Calls are read by `readCall`, which converts values and explains errors; a property test keeps both consistent. In addition
 * to these schemas, `readCall` limits nesting, and refuses unreadable times, ids that UTF-8 cannot encode, and numbers with
 * an exponent in the place of strings.
 */
import { maxBatchCalls } from './limits.ts';
import { eventTypes, maxIdLength, maxMessageIdLength, type EventType, type JsonObject } from './schema.ts';

export type CallType = Exclude<EventType, 'delete'>;

export const callTypes: readonly CallType[] = eventTypes.filter((type) => type !== 'delete');

/** null and the empty string count as absent. A whole number is read as its digits. */
const text = { type: ['string', 'integer', 'null'] };
const givenText = { type: ['string', 'integer'], minLength: 1 };
const id = { ...text, maxLength: maxIdLength };
const givenId = { ...givenText, maxLength: maxIdLength };
/** PHP writes an empty map as `[]`. */
const object = { type: ['object', 'array', 'null'], maxItems: 0 };
const time = {
  type: ['string', 'number', 'null'],
  description: 'ISO 8601, or milliseconds since 1970; UTC where it has no offset',
};

const fields = {
  messageId: {
    ...text,
    maxLength: maxMessageIdLength,
    description:
      'Identifies the call: a repetition with the same one is dropped. Generated where it is missing',
  },
  userId: { ...id, description: 'The user, in your database' },
  anonymousId: { ...id, description: 'The user, as long as it is not identified' },
  timestamp: {
    ...time,
    description: `When the event happened. ${time.description}; now, where it is missing`,
  },
  originalTimestamp: { ...time, description: 'Like timestamp; takes precedence over it' },
  sentAt: {
    description:
      "When the call was sent, by the sender's clock; used to correct timestamp, ignored where unreadable. With null the timestamp is not corrected",
  },
  context: { ...object, description: 'Context of the event: device, page, IP address, library' },
  integrations: {
    ...object,
    description:
      'Destination types by name: true, false, or an object with the ids of destinations; `All` applies to all others',
  },
  properties: object,
  traits: object,
  event: text,
  name: text,
  category: text,
  groupId: id,
  previousId: id,
};

const someUser = {
  anyOf: [
    { required: ['userId'], properties: { userId: givenId } },
    { required: ['anonymousId'], properties: { anonymousId: givenId } },
  ],
};

function schemaOf(required: Readonly<Record<string, JsonObject>> = {}): JsonObject {
  const properties = { ...fields, ...required };
  return { type: 'object', properties, required: Object.keys(required), ...someUser };
}

/** A call of each type. The path of the request names the `type`. */
export const callSchemas: Readonly<Record<CallType, JsonObject>> = {
  track: schemaOf({ event: { ...givenText, description: 'What happened, such as "Order Completed"' } }),
  identify: schemaOf(),
  page: schemaOf(),
  screen: schemaOf(),
  group: schemaOf({ groupId: givenId }),
  alias: schemaOf({ previousId: { ...givenId, description: 'The previous id of the user' } }),
};

/** @param reference returns the `$ref` of the schema of a type */
export function batchSchema(reference: (type: CallType) => string): JsonObject {
  const items = callTypes.map((type) => ({
    allOf: [{ $ref: reference(type) }],
    properties: { type: { const: type } },
    required: ['type'],
  }));
  return {
    type: 'object',
    properties: {
      batch: { type: ['array', 'null'], items: { oneOf: items }, maxItems: maxBatchCalls },
      sentAt: {
        ...fields.sentAt,
        description: `${fields.sentAt.description}. Takes precedence over those of the calls, other than null`,
      },
      context: { ...object, description: 'Merged into the context of each call, under its own keys' },
      integrations: {
        ...object,
        description: 'Merged into the integrations of each call, under its own keys',
      },
      writeKey: { type: 'string', description: 'The write key, where there is no Authorization header' },
    },
    required: ['batch'],
  };
}
