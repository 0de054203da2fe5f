/**
 * The JSON Schemas of sources and destinations. Types, validation, forms and API documents are derived from them. Each
 * `description` is a noun phrase for the allowed values; messages about invalid values contain it. A `title` is the name
 * of the schema in the OpenAPI document.
 */
import Type, { type Static } from 'typebox';
import { fieldsSchema, sampleSchema } from './destination/fields.ts';
import { filterSchema } from './destination/filter.ts';
import { transformSchema } from './destination/transform.ts';
import { maxNotifications, notificationSchema, type Notification } from './notification/schema.ts';

const closed = { additionalProperties: false };

const id = Type.String({
  pattern: '^[a-zA-Z0-9_-]{1,64}$',
  description: '1 to 64 letters, digits, dashes and underscores',
});
const name = Type.String({ minLength: 1, maxLength: 200, description: 'a text of 1 to 200 characters' });
const enabled = Type.Boolean({ default: true, description: 'true or false' });

/** The `rateLimitBytes` of a source that has none: more than one replica of every service delivers. */
export const defaultRateLimitBytes = 10 * 2 ** 20;

export const sourceSchema = Type.Object(
  {
    id,
    name: Type.Optional(name),
    // Unreserved characters of RFC 3986: a write key travels in a path, and as the user name of Basic auth.
    writeKeys: Type.Array(
      Type.String({
        pattern: '^[a-zA-Z0-9._~-]{1,128}$',
        description: '1 to 128 letters, digits, dots, dashes, underscores and tildes',
      }),
      { minItems: 1, maxItems: 20, uniqueItems: true, description: 'a list of 1 to 20 write keys' },
    ),
    enabled: Type.Optional(enabled),
    schema: Type.Optional(
      Type.Object(
        {
          track: Type.Optional(
            Type.Object(
              {
                blocked: Type.Array(Type.String({ minLength: 1, description: 'the name of an event' }), {
                  maxItems: 1_000,
                  description: 'a list of up to 1,000 event names',
                }),
              },
              { ...closed, description: 'a mapping with the key blocked' },
            ),
          ),
        },
        { ...closed, description: 'a mapping with the key track' },
      ),
    ),
    rateLimit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: 'a whole number of calls a second, from 1 to 1000000',
      }),
    ),
    rateLimitBytes: Type.Optional(
      Type.Integer({
        minimum: 1_024,
        maximum: 1_000_000_000,
        description: `a whole number of bytes a second, from 1024 to 1000000000, by default ${defaultRateLimitBytes}`,
      }),
    ),
    addIp: Type.Optional(Type.Boolean({ description: 'true or false' })),
  },
  { ...closed, description: 'a source: a mapping with id and writeKeys' },
);

const webhook = Type.Object(
  {
    url: Type.String({ format: 'webhook-url', description: 'a full URL with http or https' }),
    method: Type.Optional(
      Type.Unsafe<'POST' | 'PUT' | 'PATCH'>({
        enum: ['POST', 'PUT', 'PATCH'],
        description: 'POST, PUT or PATCH',
      }),
    ),
    headers: Type.Optional(
      Type.Unsafe<Record<string, string>>({
        type: 'object',
        maxProperties: 5,
        propertyNames: { format: 'header-name', description: 'the name of a header' },
        additionalProperties: { type: 'string', format: 'header-value', description: 'a text' },
        description: 'a mapping of up to 5 header names to values',
      }),
    ),
    secretHeaders: Type.Optional(
      Type.Array(Type.String({ description: 'the name of a header' }), {
        maxItems: 5,
        uniqueItems: true,
        description: 'a list of names of headers whose values are secret',
      }),
    ),
  },
  { ...closed, title: 'Webhook', description: 'a mapping with url, method, headers and secretHeaders' },
);

const secret = Type.String({
  minLength: 1,
  maxLength: 1_024,
  description: 'a text of 1 to 1,024 characters',
});
const certificates = Type.String({ format: 'certificates', description: 'one or more certificates in PEM' });

const tls = Type.Object(
  {
    ca: Type.Optional(certificates),
    clientCertificate: Type.Optional(certificates),
    clientKey: Type.Optional(Type.String({ format: 'private-key', description: 'a private key in PEM' })),
  },
  { ...closed, title: 'TlsSettings', description: 'a mapping with ca, clientCertificate and clientKey' },
);

const isOn = Type.Optional(Type.Boolean({ description: 'true or false' }));

const credential = Type.String({
  pattern: '^[^\\u0000-\\u001f\\u007f]{1,1024}$',
  description: 'a text of 1 to 1,024 characters without control characters',
});

const auth = Type.Object(
  {
    username: Type.Optional(
      Type.String({
        pattern: '^[^:\\u0000-\\u001f\\u007f]{1,200}$',
        description: 'a text of 1 to 200 characters without a colon or control characters',
      }),
    ),
    password: Type.Optional(credential),
    token: Type.Optional(
      Type.String({ minLength: 1, format: 'header-value', description: 'a text of at least 1 character' }),
    ),
  },
  { ...closed, title: 'AuthSettings', description: 'a mapping with username and password, or with token' },
);

const oauth2 = Type.Object(
  {
    tokenUrl: Type.String({ format: 'webhook-url', description: 'a full URL with http or https' }),
    clientId: credential,
    clientSecret: credential,
    scope: Type.Optional(
      Type.String({
        maxLength: 1_024,
        pattern: '^[!#-\\[\\]-~]+( [!#-\\[\\]-~]+)*$',
        description: 'scopes separated by spaces, up to 1,024 characters',
      }),
    ),
    audience: Type.Optional(credential),
    authMethod: Type.Optional(
      Type.Unsafe<'client_secret_basic' | 'client_secret_post'>({
        enum: ['client_secret_basic', 'client_secret_post'],
        description: 'client_secret_basic or client_secret_post',
      }),
    ),
  },
  {
    ...closed,
    title: 'OAuth2Settings',
    description: 'a mapping with tokenUrl, clientId, clientSecret, scope, audience and authMethod',
  },
);

const signature = Type.Object(
  {
    header: Type.Optional(Type.String({ format: 'signature-header', description: 'the name of a header' })),
    algorithm: Type.Optional(
      Type.Unsafe<'hmac-sha1' | 'hmac-sha256' | 'hmac-sha512'>({
        enum: ['hmac-sha1', 'hmac-sha256', 'hmac-sha512'],
        description: 'hmac-sha1, hmac-sha256 or hmac-sha512',
      }),
    ),
    encoding: Type.Optional(
      Type.Unsafe<'hex' | 'base64'>({ enum: ['hex', 'base64'], description: 'hex or base64' }),
    ),
    prefix: Type.Optional(
      Type.String({
        pattern: '^[!-+.-~-]{1,32}$',
        description: '1 to 32 visible ASCII characters without a comma',
      }),
    ),
    timestamp: isOn,
  },
  {
    ...closed,
    title: 'SignatureSettings',
    description: 'a mapping with header, algorithm, encoding, prefix and timestamp',
  },
);

const time = Type.String({ format: 'date-time', description: 'a time in UTC, such as 2026-05-01T08:30:00Z' });
const signingKey = Type.String({
  format: 'signing-key',
  description: 'a private key, which the server makes',
});

const ed25519 = Type.Object(
  {
    key: Type.Optional(signingKey),
    previousKey: Type.Optional(signingKey),
    previousKeyUntil: Type.Optional(time),
  },
  {
    ...closed,
    title: 'Ed25519Settings',
    description: 'a mapping, usually empty: the server makes the keys',
    examples: [{}],
  },
);

/**
 * Settings of the destination type `Webhooks` (docs/specification.md, rules 2.8 to 2.11, 7.1 to 7.4 and 8.1 to 8.7).
 */
export const webhooksSettingsSchema = Type.Object(
  {
    sharedSecret: Type.Optional(secret),
    previousSharedSecret: Type.Optional(secret),
    previousSharedSecretUntil: Type.Optional(time),
    contentType: Type.Optional(
      Type.Unsafe<'json' | 'form'>({ enum: ['json', 'form'], description: 'json or form' }),
    ),
    auth: Type.Optional(auth),
    oauth2: Type.Optional(oauth2),
    signature: Type.Optional(signature),
    standardWebhooks: isOn,
    ed25519: Type.Optional(ed25519),
    deliveryIdHeader: Type.Optional(
      Type.String({ format: 'delivery-id-header', description: 'the name of a header, such as webhook-id' }),
    ),
    traceparent: isOn,
    tls: Type.Optional(tls),
    webhooks: Type.Array(webhook, { minItems: 1, maxItems: 5, description: 'a list of 1 to 5 webhooks' }),
  },
  { ...closed, title: 'WebhooksSettings', description: 'a mapping with webhooks and sharedSecret' },
);

const retry = Type.Object(
  {
    for: Type.Optional(
      Type.String({ format: 'retry-window', description: 'a duration of up to 4h, such as 30m' }),
    ),
    schedule: Type.Optional(
      Type.Array(
        Type.String({ format: 'retry-delay', description: 'a duration from 1s to 4h, such as 10s' }),
        { minItems: 1, maxItems: 20, description: 'a list of 1 to 20 durations' },
      ),
    ),
    on: Type.Optional(
      Type.Array(
        Type.Unsafe<number | string>({
          type: ['integer', 'string'],
          minimum: 400,
          maximum: 599,
          pattern: '^[45]xx$',
          description: 'a status from 400 to 599, 4xx or 5xx',
        }),
        { maxItems: 50, description: 'a list of up to 50 statuses' },
      ),
    ),
  },
  {
    ...closed,
    minProperties: 1,
    title: 'RetrySettings',
    description: 'a mapping with for, schedule and on',
    examples: [{ for: '1h', schedule: ['10s', '1m', '20m'], on: ['5xx', 429] }],
  },
);

export const destinationSchema = Type.Object(
  {
    id,
    type: Type.Literal('Webhooks', { description: 'Webhooks' }),
    name: Type.Optional(name),
    enabled: Type.Optional(enabled),
    paused: Type.Optional(Type.Boolean({ description: 'true or false' })),
    sources: Type.Array(id, {
      uniqueItems: true,
      description: 'a list of ids of sources',
    }),
    rateLimit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: 'a whole number of requests a second, from 1 to 1000000',
      }),
    ),
    burst: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: 'a whole number of requests, from 1 to 1000000',
      }),
    ),
    maxInFlight: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 10_000,
        description: 'a whole number of deliveries, from 1 to 10000',
      }),
    ),
    timeout: Type.Optional(
      Type.String({ format: 'webhook-timeout', description: 'a duration from 100ms to 5s, such as 2s' }),
    ),
    retry: Type.Optional(retry),
    proxy: Type.Optional(Type.Unsafe<'none'>({ enum: ['none'], description: 'none' })),
    disableAfter: Type.Optional(
      Type.String({ format: 'disable-after', description: 'a duration from 1h to 30d, such as 3d' }),
    ),
    ordering: Type.Optional(
      Type.Unsafe<'none' | 'user'>({ enum: ['none', 'user'], description: 'none or user' }),
    ),
    filter: Type.Optional(filterSchema),
    sample: Type.Optional(sampleSchema),
    fields: Type.Optional(fieldsSchema),
    transform: Type.Optional(transformSchema),
    settings: webhooksSettingsSchema,
  },
  { ...closed, description: 'a destination: a mapping with id, type, sources and settings' },
);

export const configurationSchema = Type.Object(
  {
    sources: Type.Optional(
      Type.Array(sourceSchema, { default: [], description: 'a list of sources, [] for none' }),
    ),
    destinations: Type.Optional(
      Type.Array(destinationSchema, { default: [], description: 'a list of destinations, [] for none' }),
    ),
    notifications: Type.Optional(
      Type.Array(notificationSchema, {
        maxItems: maxNotifications,
        description: `a list of up to ${maxNotifications} notifications`,
      }),
    ),
  },
  { ...closed, description: 'a mapping with sources, destinations and notifications' },
);

type Frozen<T> = T extends object ? { readonly [Key in keyof T]: Frozen<T[Key]> } : T;

/**
 * A source of calls. `rateLimit` is in calls, `rateLimitBytes` in bytes a second; a track call of a `blocked` event is filtered. With
 * `addIp` its calls get the address of their sender as `context.ip`.
 */
export type Source = Frozen<Static<typeof sourceSchema> & { enabled: boolean }>;

/**
 * A destination of webhooks. `sources` are the ids of the connected sources; `rateLimit` is in requests a second, of which `burst` may follow each
 * other immediately; `timeout` and `retry` choose within what the service allows. With `proxy: none` it
 * is sent to without the egress proxy. Control disables it when its attempts have only failed for
 * `disableAfter`. `filter` and `sample` select the events that it gets, and `fields` the parts of their bodies, of which `transform` makes others. With `ordering: user` the events of one user are sent one after the other. Deliveries of a `paused` one wait,
 * without attempts.
 */
export type Destination = Frozen<Static<typeof destinationSchema> & { enabled: boolean }>;

/** Which events a destination gets; `delete` events pass every filter. */
export type Filter = NonNullable<Destination['filter']>;

/** The parts of webhook bodies that a destination gets, and how. */
export type Fields = NonNullable<Destination['fields']>;

/** A script that makes the bodies of a destination. A stored one has a version. */
export type Transform = NonNullable<Destination['transform']>;

/** The part of the events that a destination gets. */
export type Sample = NonNullable<Destination['sample']>;

/** The `Authorization` of requests: Basic with a user name and password, or Bearer with a token. */
export type AuthSettings = NonNullable<Destination['settings']['auth']>;

/** Where the token of requests comes from: the client credentials grant of OAuth 2.0. `scope` and `audience` are those of the token. */
export type OAuth2Settings = NonNullable<Destination['settings']['oauth2']>;

/**
 * Ed25519 signatures of Standard Webhooks. `previousKey` signs too until its time; see secrets/signing-key.ts. A stored destination
 * has a key.
 */
export type Ed25519Settings = NonNullable<Destination['settings']['ed25519']>;

/** In PEM: authorities to trust in addition to the system's, and the client certificate chain with its key. */
export type TlsSettings = NonNullable<Destination['settings']['tls']>;

/** One URL of a destination, with the static headers that requests to it carry. */
export type Webhook = Destination['settings']['webhooks'][number];

export interface Configuration {
  readonly sources: readonly Source[];
  readonly destinations: readonly Destination[];
  /** Where it is absent, notifications are left as they are, also by `prune`. */
  readonly notifications?: readonly Notification[] | undefined;
}
