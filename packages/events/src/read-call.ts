/**
 * From what a sender wrote to an event: lenient in form, strict in substance.
 *
 * The same function reads what ingest receives and what the router finds in the `events` topic, so an event
 * that it has made reads as itself. Nothing is cloned: the objects of the event are those of the input. Objects
 * are only ever merged by spreading, which defines a key called `__proto__` and does not set the prototype.
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

/** What the calls of a batch have in common; {@link readBatch} makes it. */
export interface BatchFields {
  /** When the batch was sent, by the sender's clock, in milliseconds since the epoch. */
  readonly sentAt?: number | undefined;
  readonly batchContext?: JsonObject | undefined;
  readonly batchIntegrations?: JsonObject | undefined;
}

export interface ReadOptions extends BatchFields {
  /** The type that the route names. It wins over the call's own. */
  readonly type?: EventType | undefined;
  /** When the call was received, in milliseconds since the epoch; `isInstant` holds for it. */
  readonly receivedAt: number;
  /**
   * The call comes from the `events` topic, where Kafka's ACLs say who may write: the `receivedAt` it carries is
   * believed, together with the `timestamp` computed from it, and it may be a `delete`.
   */
  readonly enriched?: boolean | undefined;
  /** The messageId of a call that has none. */
  readonly fallbackMessageId: () => string;
}

export interface InvalidCall {
  readonly ok: false;
  readonly code: 'invalid-call';
  /** A sentence for each problem: the field, the rule, how to correct it. It quotes nothing that was sent. */
  readonly message: string;
}

export type ReadResult = { readonly ok: true; readonly event: TailraceEvent } | InvalidCall;

const idFields = ['userId', 'anonymousId', 'previousId', 'groupId'] as const satisfies (keyof EventFields)[];
const textFields = ['event', 'name', 'category'] as const satisfies (keyof EventFields)[];

/** Reads one tracking call. Never throws, whatever `input` is. */
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

  // Nothing depends on these two, so that nothing is refused for them.
  const { channel, version } = input;
  if (isText(channel)) fields.channel = channel;
  if (isText(version) || isNumber(version)) fields.version = version;

  if (problems.length === 0) checkRequired(fields, problems);
  // What was checked is what the schema of the type says; a property test holds one against the other.
  return problems.length > 0 ? invalid(problems) : { ok: true, event: fields as TailraceEvent };
}

/** Reads what stands beside `batch` in a batch, once for all its calls. An unreadable `sentAt` counts as none. */
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

export function isEventType(value: unknown): value is EventType {
  return (eventTypes as readonly unknown[]).includes(value);
}

type Times = Pick<EventFields, 'timestamp' | 'receivedAt' | 'originalTimestamp' | 'sentAt'>;

/**
 * `timestamp` is when the call happened, by Tailrace's clock: receivedAt − (sentAt − originalTimestamp). The
 * sender's clock may be years wrong, and a call may wait for days in its queue; the time between the two readings of
 * that one clock is still right. Without `sentAt` the sender is believed; without any time it happened just now.
 */
function readTimes(call: JsonObject, options: ReadOptions, problems: string[]): Times {
  const timestampMs = readInstant(call, 'timestamp', problems);
  const originalMs = readInstant(call, 'originalTimestamp', problems);
  const sentAtMs = options.sentAt ?? toInstant(call['sentAt']);
  const believedMs = options.enriched === true ? toInstant(call['receivedAt']) : undefined;
  const receivedAtMs = believedMs ?? options.receivedAt;

  const isEnriched = believedMs !== undefined && timestampMs !== undefined;
  const senderMs = isEnriched ? originalMs : (originalMs ?? timestampMs);
  let happenedMs = timestampMs ?? senderMs ?? receivedAtMs;
  if (!isEnriched && senderMs !== undefined && sentAtMs !== undefined) {
    const correctedMs = receivedAtMs - (sentAtMs - senderMs);
    // Two clocks that are millennia apart leave the calendar; then neither is to be corrected by the other.
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
  if (type === 'alias') need('previousId', 'the id that the user had before');
}

/** Some SDKs send the traits of an identify call only here. */
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

/** One that keeps its text is a number to readers of the event as JSON. */
function isNumber(value: unknown): value is number {
  return Number.isFinite(value) || isRawNumber(value);
}

function invalid(problems: readonly string[]): InvalidCall {
  return { ok: false, code: 'invalid-call', message: problems.join(' ') };
}
