/**
 * A tracking call as it stands in the `events` topic once it has been read and enriched: one JSON Schema for
 * each type, from which the TypeScript types follow. `readCall` makes these by hand-written checks, because
 * it has to convert and to explain, which a validator does not; a property test holds the two together.
 *
 * Every type may carry every field. A group call that also says `event` is odd, not wrong, and whoever reads
 * the topic may have a use for it; webhook bodies take only what their type names.
 */
import Type, { type Static } from 'typebox';

export const eventTypes = ['track', 'identify', 'page', 'screen', 'group', 'alias', 'delete'] as const;

/** The six tracking calls, and `delete`: the notice that a user is to be forgotten. */
export type EventType = (typeof eventTypes)[number];

export type JsonObject = Readonly<Record<string, unknown>>;

export const maxMessageIdLength = 100;

/**
 * Of userId, anonymousId, previousId and groupId, in characters. They become keys of Kafka records, and parts of longer keys.
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
    description: 'Names the call: the same call sent twice has the same one',
  }),
  timestamp: Type.String({
    ...Instant,
    description: "When it happened, corrected by the sender's clock skew",
  }),
  receivedAt: Type.String({ ...Instant, description: 'When Tailrace took it' }),
  originalTimestamp: Type.Optional(
    Type.String({ ...Instant, description: "When it happened, by the sender's clock" }),
  ),
  sentAt: Type.Optional(Type.String({ ...Instant, description: "When it was sent, by the sender's clock" })),
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

/** Some user: one of the two ids, or both. */
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

/** An event before it is known to have what its type requires. */
export type EventFields = Static<Type.TObject<typeof fields>>;

/** A call that was read: valid, enriched, its times canonical. */
export type TailraceEvent = { [T in EventType]: Static<(typeof eventSchemas)[T]> }[EventType];

/** What orders a user's events, and the Kafka key of `events`: the userId, else the anonymousId. */
export function userKey(event: TailraceEvent): string {
  // Every type requires one of the two, which "one of" cannot say in a TypeScript type without doubling it.
  return event.userId ?? event.anonymousId ?? '';
}
