/**
 * The record of `deliveries`, the retry topics, the replay topic and the dead letters: one event on its way to one destination.
 * The value is the webhook body, byte for byte. Everything else is in headers, so that only the router parses the body.
 */
import { formatInstant, isInstant } from '@tailrace/events';
import type { ConsumedRecord, OutgoingRecord, RecordHeader } from '@tailrace/kafka';
import { exchangesHeader } from './exchange.ts';
import { objectIn } from './json.ts';

/** The dead letter that a record of the replay topic was made from: `<partition>/<offset>`. */
export const replayedFromHeader = 'replayed-from';

/** Who has replayed or resent a delivery; on its record of the replay topic. */
export const replayedByHeader = 'replayed-by';

/** The replay of events that has published a record of the replay topic. */
export const replayIdHeader = 'replay-id';

/** When the event of a replay was accepted; `accepted-at` is then the time of the replay. */
export const eventAcceptedAtHeader = 'event-accepted-at';

/** Why the transform has not made the body, which is then what it was to be made from. */
export const transformFailedHeader = 'transform-failed';

/** The version of the transform that has made the body. */
export const transformVersionHeader = 'transform-version';

const unmade = 'unmade-';

/**
 * The step of a delivery whose body was not made. A release without transforms would send the body; so it takes the record for malformed, and
 * makes a dead letter of it.
 */
export function unmadeStep(step: number): string {
  return `${unmade}${step}`;
}

/** Identify a delivery and its event, in every topic. */
const identityHeaders = [
  'delivery-id',
  'event-id',
  'source-id',
  'destination-id',
  'type',
  'event-name',
  'traceparent',
  'event-position',
  'content-type',
  transformVersionHeader,
  transformFailedHeader,
  'only-url',
  'request-headers',
  eventAcceptedAtHeader,
];

/** Describe the progress of a delivery. A replay begins without them. */
export const progressHeaders: ReadonlySet<string> = new Set([
  'attempt',
  'step',
  'put-off',
  'place-at',
  'first-attempt-at',
  'first-attempt-span',
  'due-at',
  'reason',
  'sequence',
  'held-by',
  'closed-urls',
  'last-answer',
  exchangesHeader,
  'accepted-at',
  replayedFromHeader,
  replayedByHeader,
  replayIdHeader,
]);

const knownHeaders: ReadonlySet<string> = new Set([...identityHeaders, ...progressHeaders]);

/** One event on its way to one destination. Times are milliseconds since the epoch. */
export interface Delivery {
  /** The same in all retries and replays of an event and destination. Receivers can recognise repeats by it. */
  readonly deliveryId: string;
  /** The event's messageId. */
  readonly eventId: string;
  readonly sourceId: string;
  readonly destinationId: string;
  /** `track`, `identify`, `page`, `screen`, `group`, `alias` or `delete`. */
  readonly type: string;
  /** The name of a track call's event. */
  readonly eventName?: string | undefined;
  /**
   * Where the event is in `events`, as formatPosition writes it: whether it was accepted before its user was deleted. Absent where a
   * release without it has routed the event.
   */
  readonly eventPosition?: string | undefined;
  /** The version of the transform that has made the body. */
  readonly transformVersion?: number | undefined;
  /** Why it has not made it: the body is what it was to be made from, as JSON, and is never sent. */
  readonly transformFailure?: string | undefined;
  /** The index of the only URL that the transform sends it to. */
  readonly onlyUrl?: number | undefined;
  /** Headers that the transform adds to requests. */
  readonly requestHeaders?: Readonly<Record<string, string>> | undefined;
  /** When the event was accepted or replayed. Ages are measured from this time. */
  readonly acceptedAt?: number | undefined;
  /** For replays, when the event was accepted. */
  readonly eventAcceptedAt?: number | undefined;
  /** Attempts made so far. */
  readonly attempt: number;
  /** Steps of the retry schedule taken so far: the number of attempts without those that were probes. */
  readonly step: number;
  /** How often in a row it was deferred because the lane was full, or parked because the circuit breaker was open. */
  readonly deferrals: number;
  /** When the lane has promised it a turn; only while it is deferred. */
  readonly placeAt?: number | undefined;
  /** When the first attempt was made, or would have been made had the delivery not been parked. The retry window starts here. */
  readonly firstAttemptAt?: number | undefined;
  /** When the next attempt is due; immediately where undefined. */
  readonly dueAt?: number | undefined;
  /** The reason of the retry or of the dead letter. */
  readonly reason?: string | undefined;
  /** The cause that has held it back before its first attempt; only for metrics, and only until that attempt. */
  readonly heldBy?: string | undefined;
  /**
   * The position among all deliveries of the key, ascending: the offset in `deliveries`. Only for destinations with
   * `ordering: user`.
   */
  readonly sequence?: number | undefined;
  /** For replays, the dead letter that it was made from: `<partition>/<offset>`. */
  readonly replayedFrom?: string | undefined;
  /** Fingerprints of URLs that failed permanently and are not tried again. */
  readonly closedUrls: readonly string[];
  /** The last response of each URL, as JSON text; only on dead letters. */
  readonly lastAnswer?: string | undefined;
  /** What was sent and answered in the last attempt, as `encodeExchanges` writes it; only on dead letters. */
  readonly exchanges?: string | undefined;
  /** W3C Trace Context: the span of the routing, or that of the caller where the router does not trace. */
  readonly traceparent?: string | undefined;
  /** The id of the span of the first attempt, where that was recorded. */
  readonly firstAttemptSpan?: string | undefined;
  /**
   * Headers that this version does not know, such as those of a newer replica. They are passed on unchanged, in their order,
   * behind the known ones. Undefined where there are none.
   */
  readonly otherHeaders?: readonly RecordHeader[] | undefined;
  /** `<destinationId>/<user key>`: keeps a user's deliveries to one destination in one partition and in order. */
  readonly key: string;
  /** How the body is written; JSON where undefined. */
  readonly contentType?: string | undefined;
  /** The exact bytes that are signed and sent. */
  readonly body: Buffer;
}

export function deliveryKey(destinationId: string, userKey: string): string {
  return `${destinationId}/${userKey}`;
}

/** The user key of a delivery: the userId, else the anonymousId. */
export function userKeyOf({ key, destinationId }: Pick<Delivery, 'key' | 'destinationId'>): string {
  return key.slice(destinationId.length + 1);
}

/** The record for `delivery`. A retry names the `partition` that it is in. */
export function encodeDelivery(topic: string, delivery: Delivery, partition?: number): OutgoingRecord {
  const headers: Record<string, string> = {
    'delivery-id': delivery.deliveryId,
    'event-id': delivery.eventId,
    'source-id': delivery.sourceId,
    'destination-id': delivery.destinationId,
    type: delivery.type,
    attempt: String(delivery.attempt),
  };
  if (delivery.eventName !== undefined) headers['event-name'] = delivery.eventName;
  if (delivery.eventPosition !== undefined) headers['event-position'] = delivery.eventPosition;
  if (delivery.contentType !== undefined) headers['content-type'] = delivery.contentType;
  if (delivery.transformVersion !== undefined)
    headers[transformVersionHeader] = String(delivery.transformVersion);
  if (delivery.transformFailure !== undefined) headers[transformFailedHeader] = delivery.transformFailure;
  if (delivery.onlyUrl !== undefined) headers['only-url'] = String(delivery.onlyUrl);
  if (delivery.requestHeaders !== undefined)
    headers['request-headers'] = JSON.stringify(delivery.requestHeaders);
  if (delivery.acceptedAt !== undefined) headers['accepted-at'] = formatTime(delivery.acceptedAt);
  if (delivery.eventAcceptedAt !== undefined)
    headers[eventAcceptedAtHeader] = formatTime(delivery.eventAcceptedAt);
  if (delivery.transformFailure !== undefined) headers['step'] = unmadeStep(delivery.step);
  else if (delivery.step !== delivery.attempt) headers['step'] = String(delivery.step);
  if (delivery.deferrals > 0) headers['put-off'] = String(delivery.deferrals);
  if (delivery.placeAt !== undefined) headers['place-at'] = formatTime(delivery.placeAt);
  if (delivery.firstAttemptAt !== undefined)
    headers['first-attempt-at'] = formatTime(delivery.firstAttemptAt);
  if (delivery.firstAttemptSpan !== undefined) headers['first-attempt-span'] = delivery.firstAttemptSpan;
  if (delivery.dueAt !== undefined) headers['due-at'] = formatTime(delivery.dueAt);
  if (delivery.reason !== undefined) headers['reason'] = delivery.reason;
  if (delivery.sequence !== undefined) headers['sequence'] = String(delivery.sequence);
  if (delivery.heldBy !== undefined) headers['held-by'] = delivery.heldBy;
  if (delivery.closedUrls.length > 0) headers['closed-urls'] = delivery.closedUrls.join(',');
  if (delivery.lastAnswer !== undefined) headers['last-answer'] = delivery.lastAnswer;
  if (delivery.exchanges !== undefined) headers[exchangesHeader] = delivery.exchanges;
  if (delivery.traceparent !== undefined) headers['traceparent'] = delivery.traceparent;
  if (delivery.replayedFrom !== undefined) headers[replayedFromHeader] = delivery.replayedFrom;
  const { key, body: value, otherHeaders } = delivery;
  if (!otherHeaders) return { topic, partition, key, value, headers };
  return { topic, partition, key, value, headers: [...Object.entries(headers), ...otherHeaders] };
}

/** The delivery of a record, or the problems of a record that is not one, where another program wrote to the topic. */
export function decodeDelivery(
  record: Pick<ConsumedRecord, 'key' | 'value' | 'headers' | 'headerList'>,
): Delivery | string {
  let found = 0;
  const header = (name: string): string | undefined => {
    const value = record.headers[name];
    if (value === undefined) return undefined;
    found += 1;
    return value.toString();
  };
  const problems: string[] = [];
  const required = (name: string): string => {
    const text = header(name);
    if (text === undefined || text === '') problems.push(`header ${name} is missing`);
    return text ?? '';
  };
  const time = (name: string): number | undefined => {
    const text = header(name);
    if (text === undefined) return undefined;
    const ms = Date.parse(text);
    if (Number.isNaN(ms)) problems.push(`header ${name} is not an ISO 8601 time`);
    return ms;
  };
  const count = (name: string): number | undefined => {
    const text = header(name);
    if (text === undefined) return undefined;
    const number = Number(name === 'step' && text.startsWith(unmade) ? text.slice(unmade.length) : text);
    if (!Number.isSafeInteger(number) || number < 0) problems.push(`header ${name} is not a whole number`);
    return number;
  };
  const texts = (name: string): Readonly<Record<string, string>> | undefined => {
    const text = header(name);
    if (text === undefined) return undefined;
    const found = objectIn<Record<string, unknown>>(Buffer.from(text));
    if (found && Object.values(found).every((value) => typeof value === 'string'))
      return found as Readonly<Record<string, string>>;
    problems.push(`header ${name} is not a JSON object of texts`);
    return undefined;
  };
  const attempt = count('attempt') ?? 0;
  if (record.value === null) problems.push('the value is null');

  const delivery: Delivery = {
    deliveryId: required('delivery-id'),
    eventId: required('event-id'),
    sourceId: required('source-id'),
    destinationId: required('destination-id'),
    type: required('type'),
    eventName: header('event-name'),
    eventPosition: header('event-position'),
    contentType: header('content-type'),
    transformVersion: count(transformVersionHeader),
    transformFailure: header(transformFailedHeader),
    onlyUrl: count('only-url'),
    requestHeaders: texts('request-headers'),
    acceptedAt: acceptedAtOf(header('accepted-at')),
    eventAcceptedAt: acceptedAtOf(header(eventAcceptedAtHeader)),
    attempt,
    step: count('step') ?? attempt,
    deferrals: count('put-off') ?? 0,
    placeAt: time('place-at'),
    firstAttemptAt: time('first-attempt-at'),
    dueAt: time('due-at'),
    reason: header('reason'),
    sequence: count('sequence'),
    heldBy: header('held-by'),
    closedUrls: header('closed-urls')?.split(',') ?? [],
    lastAnswer: header('last-answer'),
    exchanges: header(exchangesHeader),
    traceparent: header('traceparent'),
    firstAttemptSpan: header('first-attempt-span'),
    replayedFrom: header(replayedFromHeader),
    // Where as many headers were found as the record has, it has no others.
    otherHeaders: found === record.headerList.length ? undefined : unknownHeaders(record.headerList),
    key: record.key?.toString() ?? '',
    body: record.value ?? Buffer.alloc(0),
  };
  return problems.length > 0 ? problems.join('; ') : delivery;
}

/** An unreadable time does not make the delivery invalid. */
function acceptedAtOf(text: string | undefined): number | undefined {
  const ms = text === undefined ? NaN : Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

function unknownHeaders(headers: readonly RecordHeader[]): readonly RecordHeader[] | undefined {
  const unknown = headers.filter(([name]) => !knownHeaders.has(name));
  return unknown.length > 0 ? unknown : undefined;
}

/** A record of another program may have a time after the year 9999. */
function formatTime(ms: number): string {
  return isInstant(ms) ? formatInstant(ms) : new Date(ms).toISOString();
}
