/**
 * A tracking call as a sender may write it: JSON Schema (2020-12) for people and tools, such as the OpenAPI document
 * of ingest. What reads calls is `readCall`, which converts what these allow and explains what they do not; a property
 * test holds the two together. Beyond them it limits nesting, and refuses times that it cannot read, ids that UTF-8 cannot
 * encode, and numbers for texts where they are written with an exponent.
 */
import { maxBatchCalls } from './limits.ts';
import { eventTypes, maxIdLength, maxMessageIdLength, type EventType, type JsonObject } from './schema.ts';

export type CallType = Exclude<EventType, 'delete'>;

export const callTypes: readonly CallType[] = eventTypes.filter((type) => type !== 'delete');

/** null and an empty text stand for nothing; a whole number is read as its digits. */
const text = { type: ['string', 'integer', 'null'] };
const givenText = { type: ['string', 'integer'], minLength: 1 };
const id = { ...text, maxLength: maxIdLength };
const givenId = { ...givenText, maxLength: maxIdLength };
/** PHP writes an empty map as `[]`. */
const object = { type: ['object', 'array', 'null'], maxItems: 0 };
const time = {
  type: ['string', 'number', 'null'],
  description: 'ISO 8601, or milliseconds since 1970; UTC where no offset is given',
};

const fields = {
  messageId: {
    ...text,
    maxLength: maxMessageIdLength,
    description: 'Names the call: a repetition with the same one is dropped. One is made where it is missing',
  },
  userId: { ...id, description: 'The user, in your database' },
  anonymousId: { ...id, description: 'The user, where who it is is not known' },
  timestamp: { ...time, description: `When it happened. ${time.description}; now, where it is missing` },
  originalTimestamp: { ...time, description: 'As timestamp, before which it comes where both are there' },
  sentAt: {
    description:
      "When it was sent, by the sender's clock, which timestamp is corrected by; ignored where unreadable",
  },
  context: { ...object, description: 'What is known beside the event: device, page, IP address, library' },
  integrations: { ...object, description: 'Destinations by name, true or false; `All` is for all others' },
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

/** A call of each type, whose `type` its path names. */
export const callSchemas: Readonly<Record<CallType, JsonObject>> = {
  track: schemaOf({ event: { ...givenText, description: 'What happened, such as "Order Completed"' } }),
  identify: schemaOf(),
  page: schemaOf(),
  screen: schemaOf(),
  group: schemaOf({ groupId: givenId }),
  alias: schemaOf({ previousId: { ...givenId, description: 'The id that the user had before' } }),
};

/** A batch. `reference` gives the `$ref` under which the schema of a type is found. */
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
        description: `${fields.sentAt.description}. It counts before those of the calls`,
      },
      context: { ...object, description: 'Merged into the context of each call, under its own keys' },
      integrations: {
        ...object,
        description: 'Merged into the integrations of each call, under its own keys',
      },
      writeKey: { type: 'string', description: 'The write key, where no Authorization header has it' },
    },
    required: ['batch'],
  };
}
