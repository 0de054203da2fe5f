/**
 * Reads the call of a sender into an event: lenient about its form, strict about its content.
 *
 * The same function reads the calls that ingest receives and the records of the `events` topic, so reading is idempotent.
 * Objects are not cloned: the event contains those of the input. Objects are merged by spreading, which defines a key called
 * `__proto__` and does not set the prototype.
 */
import { formatInstant, isInstant } from './instant.ts';
import { isRawNumber } from './number.ts';
import { isObject, readId, readInstant, readObject, readText, toInstant } from './read-field.ts';
import {
  eventTypes,
  maxIdLength,
  maxMessageIdLength,
  type EventFields,
  type EventType,
  type JsonObject,
  type TailraceEvent,
} from './schema.ts';

/** The common fields of the calls of a batch, from {@link readBatch}. */
export interface BatchFields {
  /** When the batch was sent, by the sender's clock, in milliseconds since the epoch. */
  readonly sentAt?: number | undefined;
  readonly batchContext?: JsonObject | undefined;
  readonly batchIntegrations?: JsonObject | undefined;
}

export interface ReadOptions extends BatchFields {
  /** The type in the path of the request. It takes precedence over that of the call. */
  readonly type?: EventType | undefined;
  /** When the call was received, in milliseconds since the epoch; `isInstant` must be true for it. */
  readonly receivedAt: number;
  /**
   * The call is from the `events` topic, where Kafka's ACLs control who may write: its `receivedAt` is trusted, together with
   * the `timestamp` that was computed from it, and it may be a `delete`.
   */
  readonly enriched?: boolean | undefined;
  /** Returns the messageId of a call that has none. */
  readonly fallbackMessageId: () => string;
}

export interface InvalidCall {
  readonly ok: false;
  readonly code: 'invalid-call';
  /** A sentence for each problem: the field, the rule, how to fix it. No content is quoted. */
  readonly message: string;
}

export type ReadResult = { readonly ok: true; readonly event: TailraceEvent } | InvalidCall;

const idFields = ['userId', 'anonymousId', 'previousId', 'groupId'] as const satisfies (keyof EventFields)[];
const textFields = ['event', 'name', 'category'] as const satisfies (keyof EventFields)[];

/** Reads one tracking call. Never throws. */
export function readCall(input: unknown, options: ReadOptions): ReadResult {
  if (!isObject(input)) return invalid(['A call must be a JSON object.']);
  const type = options.type ?? input['type'];
  if (!isEventType(type)) return invalid([`type must be one of ${eventTypes.join(', ')}.`]);
  if (type === 'delete' && options.enriched !== true) {
    return invalid(['type must not be delete in a tracking call; create a deletion request instead.']);
  }

  const problems: string[] = [];
  const messageId = readId(input, 'messageId', maxMessageIdLength, problems) ?? options.fallbackMessageId();
  const fields: EventFields = { type, messageId, ...readTimes(input, options, problems) };
  for (const field of idFields) {
    const id = readId(input, field, maxIdLength, problems);
    if (id !== undefined) fields[field] = id;
  }
  for (const field of textFields) {
    const text = readText(input, field, problems);
    if (text !== undefined) fields[field] = text;
  }

  const properties = readObject(input, 'properties', problems);
  const context = merge(options.batchContext, readObject(input, 'context', problems));
  const traits =
    readObject(input, 'traits', problems) ?? (type === 'identify' ? traitsOf(context) : undefined);
  const integrations = merge(options.batchIntegrations, readObject(input, 'integrations', problems));
  if (properties) fields.properties = properties;
  if (traits) fields.traits = traits;
  if (context) fields.context = context;
  if (integrations) fields.integrations = integrations;

  // No other code depends on these two, so a call is not refused because of them.
  const { channel, version } = input;
  if (isText(channel)) fields.channel = channel;
  if (isText(version) || isNumber(version)) fields.version = version;

  if (problems.length === 0) checkRequired(fields, problems);
  // These checks are equivalent to the schema of the type, as a property test shows.
  return problems.length > 0 ? invalid(problems) : { ok: true, event: fields as TailraceEvent };
}

/** Reads the common fields of a batch, once for all its calls. An unreadable `sentAt` counts as absent. */
export function readBatch(
  body: JsonObject,
): { readonly ok: true; readonly fields: BatchFields } | InvalidCall {
  const problems: string[] = [];
  const fields: BatchFields = {
    sentAt: toInstant(body['sentAt']),
    batchContext: readObject(body, 'context', problems),
    batchIntegrations: readObject(body, 'integrations', problems),
  };
  return problems.length > 0 ? invalid(problems) : { ok: true, fields };
}

function isEventType(value: unknown): value is EventType {
  return (eventTypes as readonly unknown[]).includes(value);
}

type Times = Pick<EventFields, 'timestamp' | 'receivedAt' | 'originalTimestamp' | 'sentAt'>;

/**
 * `timestamp` is the time of the call by Tailrace's clock (docs/specification.md, rules 4.2 and 4.3): receivedAt − (sentAt −
 * originalTimestamp). The sender's clock may be wrong by years, and a call may wait in its queue for days, but the difference of
 * two readings of the same clock is correct.
 */
function readTimes(call: JsonObject, options: ReadOptions, problems: string[]): Times {
  const timestampMs = readInstant(call, 'timestamp', problems);
  const originalMs = readInstant(call, 'originalTimestamp', problems);
  // Null keeps the times of the call as they are, also in a batch that has a sentAt.
  const sentAtMs = call['sentAt'] === null ? undefined : (options.sentAt ?? toInstant(call['sentAt']));
  const trustedMs = options.enriched === true ? toInstant(call['receivedAt']) : undefined;
  const receivedAtMs = trustedMs ?? options.receivedAt;

  const isEnriched = trustedMs !== undefined && timestampMs !== undefined;
  const senderMs = isEnriched ? originalMs : (originalMs ?? timestampMs);
  let happenedMs = timestampMs ?? senderMs ?? receivedAtMs;
  if (!isEnriched && senderMs !== undefined && sentAtMs !== undefined) {
    const correctedMs = receivedAtMs - (sentAtMs - senderMs);
    // Without a correction where the clocks differ by millennia and the result is outside the calendar.
    if (isInstant(correctedMs)) happenedMs = correctedMs;
  }

  const times: Times = { timestamp: formatInstant(happenedMs), receivedAt: formatInstant(receivedAtMs) };
  if (senderMs !== undefined) times.originalTimestamp = formatInstant(senderMs);
  if (sentAtMs !== undefined) times.sentAt = formatInstant(sentAtMs);
  return times;
}

function checkRequired(event: EventFields, problems: string[]): void {
  const { type } = event;
  const need = (field: 'userId' | 'previousId' | 'groupId' | 'event', what: string): void => {
    if (event[field] === undefined) problems.push(`${field} is required: a ${type} call must name ${what}.`);
  };
  if (type === 'delete') {
    need('userId', 'the user to forget');
    return;
  }
  if (event.userId === undefined && event.anonymousId === undefined) {
    problems.push(`userId or anonymousId is required: a ${type} call must name its user.`);
  }
  if (type === 'track') need('event', 'what happened, such as "Order Completed"');
  if (type === 'group') need('groupId', 'the group');
  if (type === 'alias') need('previousId', 'the previous id of the user');
}

/** Some SDKs send the traits of an identify call only in its context. */
function traitsOf(context: JsonObject | undefined): JsonObject | undefined {
  const traits = context?.['traits'];
  return isObject(traits) ? traits : undefined;
}

function merge(batch: JsonObject | undefined, own: JsonObject | undefined): JsonObject | undefined {
  return batch && own ? { ...batch, ...own } : (own ?? batch);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** A raw number is a number too for readers of the event's JSON. */
function isNumber(value: unknown): value is number {
  return Number.isFinite(value) || isRawNumber(value);
}

function invalid(problems: readonly string[]): InvalidCall {
  return { ok: false, code: 'invalid-call', message: problems.join(' ') };
}
