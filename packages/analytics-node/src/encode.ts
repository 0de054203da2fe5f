/**
 * Encodes a message as JSON when the call is made. Later changes to the caller's objects have no effect, no object
 * of the caller is retained, and an invalid message throws to the caller that made it.
 */
import { randomUUID } from 'node:crypto';
import { AnalyticsError, reasonOf } from './errors.ts';
import type { CallType, Messages } from './messages.ts';
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
}

type TextField =
  'userId' | 'anonymousId' | 'previousId' | 'groupId' | 'event' | 'name' | 'category' | 'messageId';
type ObjectField = 'properties' | 'traits' | 'context' | 'integrations';

/** An unvalidated message of any type. JavaScript callers may pass any value. */
type Unchecked = Readonly<Partial<Record<TextField | ObjectField | 'timestamp', unknown>>>;

type Encodable = Readonly<Partial<Record<TextField | 'timestamp', string | undefined>>> &
  Readonly<Partial<Record<ObjectField, object | undefined>>> & { readonly type: CallType };

/**
 * @param shared context that lies under the context of the call, for a transport without a batch context
 * @throws AnalyticsError `invalid-message` with the field, or `message-too-large`
 */
export function encodeCall<T extends CallType>(type: T, message: Messages[T], shared?: object): Call {
  const given: Unchecked = message;
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- as above
  if (typeof given !== 'object' || given === null) throw invalid(type, undefined, 'it takes an object');

  // The order of the checks decides which error is thrown first: required fields, user, other fields.
  const event = type === 'track' ? required(type, given, 'event') : undefined;
  const groupId = type === 'group' ? required(type, given, 'groupId') : undefined;
  const userId = type === 'alias' ? required(type, given, 'userId') : text(type, given, 'userId');
  const previousId = type === 'alias' ? required(type, given, 'previousId') : undefined;
  const anonymousId = text(type, given, 'anonymousId');
  const userKey = userId ?? anonymousId;
  if (userKey === undefined) throw invalid(type, 'userId', `'userId' or 'anonymousId' is required`);
  const messageId = text(type, given, 'messageId') ?? randomUUID();
  if (messageId.length > maxMessageIdLength) {
    throw invalid(type, 'messageId', `'messageId' has more than ${maxMessageIdLength} characters`);
  }
  const context = object(type, given, 'context');

  const json = stringify({
    type,
    messageId,
    timestamp: timestampOf(type, given.timestamp),
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
  const bytes = Buffer.byteLength(json);
  if (bytes > maxCallBytes) {
    const sentence = `The ${type} call has ${bytes} bytes as JSON, and ${maxCallBytes} are allowed.`;
    throw new AnalyticsError('message-too-large', sentence);
  }
  return { json, bytes, userKey };
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

function timestampOf(type: CallType, given: unknown): string {
  if (given === undefined || given === null || given === '') return isoNow();
  if (typeof given === 'string' && isIso8601(given)) return given;
  if (given instanceof Date && !Number.isNaN(given.getTime())) return given.toISOString();
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
