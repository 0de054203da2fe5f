/**
 * Tracking calls in the `events` topic, after they were read and completed: a JSON Schema for each type, from which the TypeScript
 * types are derived. `readCall` checks calls with hand-written code, because it also converts and explains, which a validator
 * cannot do; a property test keeps both consistent.
 *
 * Every type may have every field. A group call with an `event` is unusual but valid, and consumers of the topic may use the
 * field. Webhook bodies contain only the fields of their type.
 */
import Type, { type Static } from 'typebox';

export const eventTypes = ['track', 'identify', 'page', 'screen', 'group', 'alias', 'delete'] as const;

/** The six tracking calls, and `delete`: the request to delete a user. */
export type EventType = (typeof eventTypes)[number];

export type JsonObject = Readonly<Record<string, unknown>>;

export const maxMessageIdLength = 100;

/**
 * The maximum of userId, anonymousId, previousId and groupId, in characters. They become keys of Kafka records, or parts of
 * longer keys.
 */
export const maxIdLength = 1_024;

const Text = Type.String({ minLength: 1 });
const Id = Type.String({ minLength: 1, maxLength: maxIdLength });
const Free = Type.Unsafe<JsonObject>({ type: 'object' });
const Instant = Type.String({
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$',
  description: 'ISO 8601, UTC with milliseconds',
});

const fields = {
  type: Type.Enum([...eventTypes]),
  messageId: Type.String({
    minLength: 1,
    maxLength: maxMessageIdLength,
    description: 'Identifies the call: the same call sent twice has the same one',
  }),
  timestamp: Type.String({
    ...Instant,
    description: "When the event happened, corrected by the sender's clock skew",
  }),
  receivedAt: Type.String({ ...Instant, description: 'When Tailrace received the call' }),
  originalTimestamp: Type.Optional(
    Type.String({ ...Instant, description: "When the event happened, by the sender's clock" }),
  ),
  sentAt: Type.Optional(
    Type.String({ ...Instant, description: "When the call was sent, by the sender's clock" }),
  ),
  userId: Type.Optional(Id),
  anonymousId: Type.Optional(Id),
  previousId: Type.Optional(Id),
  groupId: Type.Optional(Id),
  event: Type.Optional(Text),
  name: Type.Optional(Text),
  category: Type.Optional(Text),
  properties: Type.Optional(Free),
  traits: Type.Optional(Free),
  context: Type.Optional(Free),
  integrations: Type.Optional(Free),
  channel: Type.Optional(Text),
  version: Type.Optional(Type.Union([Text, Type.Number()])),
};

/** One of the two ids, or both. */
const someUser = { anyOf: [{ required: ['userId'] }, { required: ['anonymousId'] }] };
const closed = { additionalProperties: false };

export const eventSchemas = {
  track: Type.Object({ ...fields, type: Type.Literal('track'), event: Text }, { ...closed, ...someUser }),
  identify: Type.Object({ ...fields, type: Type.Literal('identify') }, { ...closed, ...someUser }),
  page: Type.Object({ ...fields, type: Type.Literal('page') }, { ...closed, ...someUser }),
  screen: Type.Object({ ...fields, type: Type.Literal('screen') }, { ...closed, ...someUser }),
  group: Type.Object({ ...fields, type: Type.Literal('group'), groupId: Id }, { ...closed, ...someUser }),
  alias: Type.Object({ ...fields, type: Type.Literal('alias'), previousId: Id }, { ...closed, ...someUser }),
  delete: Type.Object({ ...fields, type: Type.Literal('delete'), userId: Id }, closed),
};

/** An event whose required fields have not been checked yet. */
export type EventFields = Static<Type.TObject<typeof fields>>;

/** A call that was read: valid and complete, with canonical times. */
export type TailraceEvent = { [T in EventType]: Static<(typeof eventSchemas)[T]> }[EventType];

/** The Kafka key of `events`, within which events are ordered: the userId, else the anonymousId. */
export function userKey(event: TailraceEvent): string {
  // Every type requires one of the two ids, which the TypeScript type does not express.
  return event.userId ?? event.anonymousId ?? '';
}
