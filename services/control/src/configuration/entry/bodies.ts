/** The schemas of the bodies that create, replace and change sources, destinations and notifications, for the OpenAPI document. */
import { destinationSchema, notificationSchema, sourceSchema } from '@tailrace/config';
import Type from 'typebox';
import { inputOf, orNothing, patchOf, withoutDefaults, type JsonSchema } from '../../document/json-schema.ts';
import { bodyOnly } from '../../http/schemas.ts';

const webhooks = [{ url: 'https://crm.example.com/hook', headers: { 'X-Team': 'growth' } }];
const source: JsonSchema = withoutDefaults(sourceSchema as unknown as JsonSchema);
const destination: JsonSchema = withoutDefaults(destinationSchema as unknown as JsonSchema);
const notification: JsonSchema = withoutDefaults(notificationSchema as unknown as JsonSchema);

/** The built-in source has no write keys. */
export const shownSourceSchema = Type.Object(
  {
    ...sourceSchema.properties,
    writeKeys: Type.Array(sourceSchema.properties.writeKeys.items, {
      maxItems: 20,
      description: 'a list of up to 20 write keys; only the built-in source has none',
    }),
    builtIn: Type.Optional(
      Type.Literal(true, {
        description: 'true for the source of operational events, which cannot be changed',
      }),
    ),
  },
  { title: 'Source', additionalProperties: false },
);

export const sourceBodies = {
  created: bodyOnly(
    orNothing({
      ...inputOf(source, 'SourceInput', ['id', 'writeKeys']),
      description: 'a source; every field is optional',
      examples: [{ id: 'web', name: 'Website' }],
    }),
  ),
  replacement: bodyOnly({
    ...inputOf(source, 'SourceReplacement', ['id']),
    examples: [{ name: 'Website', writeKeys: ['wk_1b9PpKb0T5hCq3m8XfJ2YxQa'] }],
  }),
  patch: bodyOnly({
    ...patchOf({ ...source, title: 'Source' }),
    description: 'the fields to change; null removes a field',
    examples: [{ name: 'Website', rateLimit: null }],
  }),
};

export const destinationBodies = {
  created: bodyOnly({
    ...inputOf(destination, 'DestinationInput', ['id', 'sources']),
    description: 'a destination; id and sources are optional',
    examples: [
      { id: 'crm', type: 'Webhooks', sources: ['web'], settings: { sharedSecret: 's3cret', webhooks } },
    ],
  }),
  replacement: bodyOnly({
    ...inputOf(destination, 'DestinationReplacement', ['id']),
    description: 'a destination; a mask keeps the stored secret',
    examples: [{ type: 'Webhooks', sources: ['web'], settings: { sharedSecret: '********', webhooks } }],
  }),
  patch: bodyOnly({
    ...patchOf({ ...destination, title: 'Destination' }),
    description: 'the fields to change; null removes a field',
    examples: [{ enabled: true, rateLimit: null, settings: { sharedSecret: 's3cret' } }],
  }),
};

const slack = { format: 'slack', url: 'https://hooks.slack.com/services/T0/B0/XXXXXXXX' };

export const notificationBodies = {
  created: bodyOnly({
    ...inputOf(notification, 'NotificationInput', ['id']),
    description: 'a notification; id is optional',
    examples: [{ id: 'on-call', webhook: slack }],
  }),
  replacement: bodyOnly({
    ...inputOf(notification, 'NotificationReplacement', ['id']),
    description: 'a notification; a mask keeps the stored secret',
    examples: [{ events: ['destination.failing'], webhook: slack }],
  }),
  patch: bodyOnly({
    ...patchOf({ ...notification, title: 'Notification' }),
    description: 'the fields to change; null removes a field',
    examples: [{ enabled: false, silentAfter: '6h' }],
  }),
};
