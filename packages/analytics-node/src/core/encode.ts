/**
 * Encodes a message as JSON when the call is made. Later changes to the caller's objects have no effect, no object
 * of the caller is retained, and an invalid message throws to the caller that made it.
 */
import { AnalyticsError, reasonOf } from './errors.ts';
import type { CallType, Messages } from './messages.ts';
import type { Platform } from './platform.ts';
import { isIso8601, isoNow } from './timestamp.ts';

/** The largest call, as JSON in UTF-8 (docs/specification.md, rule 2.1). */
export const maxCallBytes = 32 * 1024;
const maxMessageIdLength = 100;

export interface Call {
  readonly json: string;
  /** The size of `json` in UTF-8. */
  readonly bytes: number;
  /** The userId, or the anonymousId where there is none. */
  readonly userKey: string;
  /** When the call was queued, on the clock of `performance.now()`. Negative for a call of an earlier process. */
  queuedAt: number;
  /** Failed attempts. */
  attempts: number;
  /** Its place among all calls of the client, from 0. */
  number: number;
  /** Its place in the store, which has written it again where that is another. */
  stored: number;
}

type Encoding = Pick<Platform, 'byteLength' | 'uuid'>;

type TextField =
  | 'userId'
  | 'anonymousId'
  | 'previousId'
  | 'groupId'
  | 'event'
  | 'name'
  | 'category'
  | 'messageId';
type ObjectField = 'properties' | 'traits' | 'context' | 'integrations';

/** An unvalidated message of any type. JavaScript callers may pass any value. */
type Unchecked = Readonly<Partial<Record<TextField | ObjectField | 'timestamp', unknown>>>;

type Encodable = Readonly<Partial<Record<TextField | 'timestamp', string | undefined>>> &
  Readonly<Partial<Record<ObjectField, object | undefined>>> & {
    readonly type: CallType;
    readonly sentAt: null | undefined;
  };

/**
 * @param shared context that lies under the context of the call, for a transport without a batch context
 * @throws AnalyticsError `invalid-message` with the field, or `message-too-large`
 */
export function encodeCall<T extends CallType>(
  type: T,
  message: Messages[T],
  platform: Encoding,
  shared?: object,
): Call {
  try {
    return encode(type, message, platform, shared);
  } catch (cause) {
    if (cause instanceof AnalyticsError) throw cause;
    // A getter, or a proxy.
    throw invalid(type, undefined, `it cannot be read: ${reasonOf(cause)}`, cause);
  }
}

function encode<T extends CallType>(
  type: T,
  message: Messages[T],
  { byteLength, uuid }: Encoding,
  shared?: object,
): Call {
  const given: Unchecked = message;
  // oxlint-disable-next-line typescript/no-unnecessary-condition -- as above
  if (typeof given !== 'object' || given === null) throw invalid(type, undefined, 'it takes an object');

  // The order of the checks decides which error is thrown first: required fields, user, other fields.
  const event = type === 'track' ? required(type, given, 'event') : undefined;
  const groupId = type === 'group' ? required(type, given, 'groupId') : undefined;
  const userId = type === 'alias' ? required(type, given, 'userId') : text(type, given, 'userId');
  const previousId = type === 'alias' ? required(type, given, 'previousId') : undefined;
  const anonymousId = text(type, given, 'anonymousId');
  const userKey = userId ?? anonymousId;
  if (userKey === undefined) throw invalid(type, 'userId', `'userId' or 'anonymousId' is required`);
  const givenId = text(type, given, 'messageId');
  const problem = givenId === undefined ? undefined : messageIdProblem(givenId);
  if (problem !== undefined) throw invalid(type, 'messageId', `'messageId' ${problem}`);
  const messageId = givenId ?? uuid();
  const timestamp = timestampOf(type, given.timestamp);
  const context = object(type, given, 'context');

  const json = stringify({
    type,
    messageId,
    timestamp: timestamp ?? isoNow(),
    // The service keeps a time that the program has set, and corrects the others by the program's clock.
    sentAt: timestamp === undefined ? undefined : null,
    userId,
    anonymousId,
    previousId,
    groupId,
    event,
    name: text(type, given, 'name'),
    category: text(type, given, 'category'),
    traits: object(type, given, 'traits'),
    properties: object(type, given, 'properties'),
    context: shared === undefined ? context : { ...shared, ...context },
    integrations: object(type, given, 'integrations'),
  });
  const bytes = byteLength(json);
  if (bytes > maxCallBytes) {
    const sentence = `The ${type} call has ${bytes} bytes as JSON, and ${maxCallBytes} are allowed.`;
    throw new AnalyticsError('message-too-large', sentence);
  }
  return { json, bytes, userKey, queuedAt: 0, attempts: 0, number: 0, stored: 0 };
}

/** As the server counts: characters (code points), not UTF-16 code units. The cheap tests come first. */
function messageIdProblem(id: string): string | undefined {
  // A surrogate without its other half.
  if (/\p{Surrogate}/u.test(id)) return 'has half a surrogate pair, which UTF-8 cannot encode';
  const isTooLong =
    id.length > maxMessageIdLength &&
    (id.length > 2 * maxMessageIdLength || Array.from(id).length > maxMessageIdLength);
  return isTooLong ? `has more than ${maxMessageIdLength} characters` : undefined;
}

function required(type: CallType, given: Unchecked, field: TextField): string {
  const value = text(type, given, field);
  if (value === undefined) throw invalid(type, field, `'${field}' is required`);
  return value;
}

/** Undefined where the field is absent or empty. The server treats both alike. */
function text(type: CallType, given: Unchecked, field: TextField): string | undefined {
  const value = given[field];
  if (typeof value === 'string') return value === '' ? undefined : value;
  if (value === undefined || value === null) return undefined;
  throw invalid(type, field, `'${field}' must be text`);
}

function object(type: CallType, given: Unchecked, field: ObjectField): object | undefined {
  const value = given[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'object' || Array.isArray(value))
    throw invalid(type, field, `'${field}' must be an object`);
  return isEmpty(value) ? undefined : value;
}

function isEmpty(value: object): boolean {
  for (const key in value) if (Object.hasOwn(value, key)) return false;
  return !('toJSON' in value);
}

/** Undefined where the program has set none. */
function timestampOf(type: CallType, given: unknown): string | undefined {
  if (given === undefined || given === null || given === '') return undefined;
  if (typeof given === 'string' && isIso8601(given)) return given;
  if (given instanceof Date && !Number.isNaN(given.getTime())) {
    const iso = given.toISOString();
    // Beyond the years 0000 to 9999 it has a sign and two more digits.
    if (iso.length === 24) return iso;
  }
  throw invalid(type, 'timestamp', `'timestamp' must be a valid Date or ISO 8601`);
}

function stringify(call: Encodable): string {
  try {
    return JSON.stringify(call);
  } catch (cause) {
    // A cycle, a BigInt, or a toJSON that throws.
    const fields = ['properties', 'traits', 'context', 'integrations'] as const;
    const field = fields.find((name) => !isJson(call[name]));
    throw invalid(call.type, field, `${field ?? 'it'} cannot be written as JSON: ${reasonOf(cause)}`, cause);
  }
}

function isJson(value: unknown): boolean {
  try {
    JSON.stringify(value);
    return true;
  } catch {
    return false;
  }
}

function invalid(type: CallType, field: string | undefined, why: string, cause?: unknown): AnalyticsError {
  return new AnalyticsError('invalid-message', `The ${type} call cannot be sent: ${why}.`, { field, cause });
}
