/** Notifications: whom control tells of what (services/control/src/notifications). Their schema. */
import Type, { type Static } from 'typebox';

/** What a notification can be about. */
export const notificationEvents = [
  'destination.failing',
  'deliveries.dead',
  'destination.disabled',
  'source.silent',
] as const;
export type NotificationEvent = (typeof notificationEvents)[number];

export const webhookFormats = ['json', 'slack', 'pagerduty'] as const;

/** Each control instance keeps all in memory, and looks at each once a second. */
export const maxNotifications = 50;

const closed = { additionalProperties: false };
const id = (description: string) => Type.String({ pattern: '^[a-zA-Z0-9_-]{1,64}$', description });
const ids = (what: string) =>
  Type.Array(id(`the id of a ${what}`), {
    minItems: 1,
    maxItems: 100,
    uniqueItems: true,
    description: `a list of 1 to 100 ids of ${what}s`,
  });
const secret = Type.String({
  minLength: 1,
  maxLength: 1_024,
  description: 'a text of 1 to 1,024 characters',
});
const address = Type.String({
  pattern: '^[^\\s@<>(),:;"\\[\\]\\\\]{1,64}@[A-Za-z0-9.-]{1,253}$',
  description: 'an email address, such as ops@example.com',
  examples: ['ops@example.com'],
});

const webhook = Type.Object(
  {
    format: Type.Optional(
      Type.Unsafe<(typeof webhookFormats)[number]>({
        enum: [...webhookFormats],
        description: `one of ${webhookFormats.join(', ')}`,
      }),
    ),
    url: Type.Optional(
      Type.String({ format: 'webhook-url', description: 'a full URL with http or https; it is secret' }),
    ),
    routingKey: Type.Optional(secret),
  },
  { ...closed, title: 'NotificationWebhook', description: 'a mapping with url and format' },
);

const email = Type.Object(
  {
    to: Type.Array(address, {
      minItems: 1,
      maxItems: 20,
      uniqueItems: true,
      description: 'a list of 1 to 20 email addresses',
    }),
    from: address,
    server: Type.String({
      format: 'smtp-url',
      description: 'the address of a mail server, such as smtps://smtp.example.com',
    }),
    user: Type.Optional(
      Type.String({ minLength: 1, maxLength: 320, description: 'a text of 1 to 320 characters' }),
    ),
    password: Type.Optional(secret),
  },
  { ...closed, title: 'NotificationEmail', description: 'a mapping with to, from and server' },
);

export const notificationSchema = Type.Object(
  {
    id: id('1 to 64 letters, digits, dashes and underscores'),
    name: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'a text of 1 to 200 characters' }),
    ),
    enabled: Type.Optional(Type.Boolean({ default: true, description: 'true or false' })),
    events: Type.Optional(
      Type.Array(
        Type.Unsafe<NotificationEvent>({
          enum: [...notificationEvents],
          description: `one of ${notificationEvents.join(', ')}`,
        }),
        {
          minItems: 1,
          uniqueItems: true,
          description: `a list of ${notificationEvents.join(', ')}; by default all`,
        },
      ),
    ),
    sources: Type.Optional(ids('source')),
    destinations: Type.Optional(ids('destination')),
    silentAfter: Type.Optional(
      Type.String({ format: 'silence', description: 'a duration of 5m to 7d; by default 1h' }),
    ),
    destination: Type.Optional(id('the id of the destination that is told')),
    webhook: Type.Optional(webhook),
    email: Type.Optional(email),
  },
  { ...closed, description: 'a notification: a mapping with id and one of destination, webhook and email' },
);

type Frozen<T> = T extends object ? { readonly [Key in keyof T]: Frozen<T[Key]> } : T;

/**
 * Who is told: exactly one of `destination`, `webhook` and `email`. Without `events` of all, without `sources` and `destinations` about all.
 */
export type Notification = Frozen<Static<typeof notificationSchema> & { enabled: boolean }>;
