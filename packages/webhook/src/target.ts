/** Prepares a destination's webhooks for sending: parsed URLs and request headers. */
import { createHash, type KeyObject } from 'node:crypto';
import {
  readSigningKey,
  type AuthSettings,
  type Destination,
  type Ed25519Settings,
  type OAuth2Settings,
  type SigningKey,
  type TlsSettings,
} from '@tailrace/config';
import { parseDuration } from '@tailrace/events';
import { sign, signEd25519, signStandardWebhook, signWith } from '@tailrace/signing';
import { validTraceparent } from '@tailrace/tracing';

export interface Target {
  /**
   * Identifies the URL in a delivery's `closed-urls`. A corrected URL has a different fingerprint, so it is open
   * again.
   */
  readonly fingerprint: string;
  /** For display. Without the query, which may contain secrets. */
  readonly shownUrl: string;
  readonly origin: string;
  readonly path: string;
  readonly method: 'POST' | 'PUT' | 'PATCH';
  /** The static headers of the URL, and that of `auth`. Names and values alternate. */
  readonly headers: readonly string[];
  /** TLS settings for this URL. Undefined for plain HTTP. */
  readonly tls: TlsSettings | undefined;
  /** Where its requests get their token; undefined without `oauth2`. */
  readonly tokenServer: TokenServer | undefined;
  /** Of the destination; undefined for those of the service. */
  readonly timeoutMs: number | undefined;
  readonly retryOn: ReadonlySet<number> | undefined;
  readonly proxy: Destination['proxy'];
}

/** Where all requests of a destination get their token; one object for each version of the destination. */
export interface TokenServer {
  readonly destinationId: string;
  /** Identifies its circuit breaker. A corrected URL or client has another one; a corrected secret waits for the next probe. */
  readonly fingerprint: string;
  /** Without the query. */
  readonly shownUrl: string;
  readonly origin: string;
  readonly path: string;
  readonly tls: TlsSettings | undefined;
  readonly proxy: Destination['proxy'];
  readonly client: OAuth2Settings;
}

/** The delivery, and when the attempt started. */
export interface AttemptStamp {
  readonly deliveryId: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** How the body is written; JSON where undefined. */
  readonly contentType?: string | undefined;
  /** Headers of the delivery, by its transform. */
  readonly added?: Readonly<Record<string, string>> | undefined;
  /** W3C Trace Context of the attempt, as the delivery has it. */
  readonly traceparent?: string | undefined;
}

const targets = new WeakMap<Destination, readonly Target[]>();

/**
 * The targets of a destination, in the order of its webhooks. They are cached for each version of the destination.
 */
export function targetsOf(destination: Destination): readonly Target[] {
  let found = targets.get(destination);
  if (!found) {
    const timeoutMs = destination.timeout === undefined ? undefined : parseDuration(destination.timeout);
    const authorization = authorizationOf(destination.settings.auth);
    const tokenServer = newTokenServer(destination);
    const retryOn = destination.retry?.on && statusesOf(destination.retry.on);
    found = destination.settings.webhooks.map(({ url: text, method = 'POST', headers = {} }) => {
      const url = new URL(text);
      return {
        fingerprint: fingerprintOf(url.href),
        ...placeOf(url, destination),
        method,
        headers: [...Object.entries(headers).flat(), ...authorization],
        tokenServer,
        timeoutMs,
        retryOn,
      };
    });
    targets.set(destination, found);
  }
  return found;
}

/** Undefined for a destination without `oauth2`. */
export function tokenServerOf(destination: Destination): TokenServer | undefined {
  return destination.settings.oauth2 && targetsOf(destination)[0]?.tokenServer;
}

function newTokenServer(destination: Destination): TokenServer | undefined {
  const client = destination.settings.oauth2;
  if (!client) return undefined;
  const url = new URL(client.tokenUrl);
  const { clientId, scope, audience, authMethod } = client;
  const parts = ['oauth2', url.href, clientId, scope, audience, authMethod];
  const fingerprint = fingerprintOf(JSON.stringify(parts));
  return { destinationId: destination.id, fingerprint, ...placeOf(url, destination), client };
}

function fingerprintOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** What requests to a URL of the destination, or to its token server, depend on. */
function placeOf(url: URL, { settings, proxy }: Destination) {
  return {
    shownUrl: `${url.origin}${url.pathname}`,
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    tls: url.protocol === 'https:' ? settings.tls : undefined,
    proxy,
  };
}

/** By RFC 7617 in UTF-8, and RFC 6750. */
function authorizationOf({ username, password, token }: AuthSettings = {}): readonly string[] {
  if (token !== undefined) return ['Authorization', `Bearer ${token}`];
  if (username === undefined || password === undefined) return [];
  return ['Authorization', `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`];
}

/** `5xx` is every status from 500 to 599. */
function statusesOf(on: readonly (number | string)[]): ReadonlySet<number> {
  return new Set(
    on.flatMap((one) =>
      typeof one === 'number' ? one : Array.from({ length: 100 }, (_, n) => Number(one[0]) * 100 + n),
    ),
  );
}

/**
 * All the headers of a webhook request (docs/specification.md, rules 7.2, 8.4, 8.6 and 8.7), as alternating names and values. During a
 * change of the secret there are two secrets, and `X-Signature` is made with one of them, see {@link secretsAt}.
 */
export function requestHeaders(
  destination: Destination,
  target: Target,
  body: Buffer,
  attempt: AttemptStamp,
): string[] {
  const contentType =
    attempt.contentType === 'form' ? 'application/x-www-form-urlencoded' : 'application/json';
  const headers = ['Content-Type', contentType, 'User-Agent', 'Tailrace/1.0'];
  const { signature, standardWebhooks = false, ed25519, deliveryIdHeader } = destination.settings;
  const { deliveryId: id, startedAt } = attempt;
  const timestamp = Math.floor(startedAt / 1_000);
  const secrets = secretsAt(destination, startedAt);
  const signed: string[] = [];
  if (secrets) {
    if (signature) {
      // Only a header with a timestamp has room for the signatures of both secrets.
      const keys = signature.timestamp === true ? secrets.all : [secrets.signsAlone];
      headers.push(signature.header ?? 'X-Signature', signWith(signature, keys, { timestamp, body }));
    } else {
      headers.push('X-Signature', sign(secrets.signsAlone, body));
    }
    if (standardWebhooks) signed.push(signStandardWebhook(secrets.all, { id, timestamp, body }));
  }
  if (ed25519) signed.push(...signEd25519(keysAt(ed25519, startedAt), { id, timestamp, body }));
  if (signed.length > 0) {
    headers.push('webhook-id', id, 'webhook-timestamp', String(timestamp));
    headers.push('webhook-signature', signed.join(' '));
  }
  if (deliveryIdHeader !== undefined) headers.push(deliveryIdHeader, id);
  if (destination.settings.traceparent === true) {
    // The record may be from any producer, and an invalid value may not be a header at all.
    const traceparent = validTraceparent(attempt.traceparent);
    if (traceparent !== undefined) headers.push('traceparent', traceparent);
  }
  if (attempt.added === undefined) headers.push(...target.headers);
  else {
    const own =
      destination.settings.auth || destination.settings.oauth2 ? [...headers, 'Authorization', ''] : headers;
    headers.push(...withAdded(target.headers, attempt.added, own));
  }
  return headers;
}

/** The static headers, and those of a delivery, which replace them, but not `own` ones of Tailrace. */
function withAdded(
  fixed: readonly string[],
  added: Readonly<Record<string, string>>,
  own: readonly string[],
): string[] {
  const merged = new Map(pairsOf(fixed).map((pair) => [pair[0].toLowerCase(), pair]));
  const taken = new Set(pairsOf(own).map(([name]) => name.toLowerCase()));
  for (const pair of Object.entries(added)) {
    const name = pair[0].toLowerCase();
    if (!taken.has(name)) merged.set(name, pair);
  }
  return [...merged.values()].flat();
}

/** Of alternating names and values. */
function pairsOf(headers: readonly string[]): (readonly [name: string, value: string])[] {
  return headers.flatMap((name, at) => (at % 2 === 0 ? [[name, headers[at + 1] ?? ''] as const] : []));
}

/**
 * The secrets that sign at a time, the newest first; undefined where requests are not signed. Of two secrets, `X-Signature` is
 * made with the newer one. While the previous one is kept until a certain time, because the server has made the newer one,
 * receivers do not know that yet: then it is made with the previous one until that time, so that they have all of it.
 *
 * @param at milliseconds since the epoch
 */
export function secretsAt(
  { settings }: Destination,
  at: number,
): { readonly signsAlone: string; readonly all: readonly string[] } | undefined {
  const { sharedSecret, previousSharedSecret, previousSharedSecretUntil: until } = settings;
  if (sharedSecret === undefined) return undefined;
  if (previousSharedSecret === undefined || isOver(until, at)) {
    return { signsAlone: sharedSecret, all: [sharedSecret] };
  }
  const signsAlone = until === undefined ? sharedSecret : previousSharedSecret;
  return { signsAlone, all: [sharedSecret, previousSharedSecret] };
}

function isOver(until: string | undefined, at: number): boolean {
  return until !== undefined && at >= Date.parse(until);
}

const signingKeys = new WeakMap<Ed25519Settings, readonly SigningKey[]>();

/** The key that signs, and the previous one where there is one. They are cached for each version of the destination. */
export function signingKeysOf(ed25519: Ed25519Settings): readonly SigningKey[] {
  let found = signingKeys.get(ed25519);
  if (!found) {
    found = [ed25519.key, ed25519.previousKey].flatMap((key) => readSigningKey(key ?? '') ?? []);
    signingKeys.set(ed25519, found);
  }
  return found;
}

function keysAt(ed25519: Ed25519Settings, at: number): KeyObject[] {
  const keys = signingKeysOf(ed25519).map(({ privateKey }) => privateKey);
  return isOver(ed25519.previousKeyUntil, at) ? keys.slice(0, 1) : keys;
}
