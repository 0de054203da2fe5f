/** The routes of notifications: list, create, read, replace, update, delete, test, and what becomes of them. */
import {
  builtInSource,
  checkNotification,
  maskNotification,
  maxNotifications,
  missingSubjects,
  notificationEvents,
  notificationSchema,
  problemsError,
  unmaskNotification,
  type ConfigEditor,
  type ConfigSnapshot,
  type Notification,
} from '@tailrace/config';
import { TailraceError } from '@tailrace/errors';
import { formatInstant } from '@tailrace/events';
import Type from 'typebox';
import { Places } from '../access/places.ts';
import { notificationBodies } from '../configuration/entry/bodies.ts';
import { entriesOf, requireValid } from '../configuration/entry/change.ts';
import { entryRoutes } from '../configuration/entry/routes.ts';
import { secretErrors } from '../configuration/destinations/routes.ts';
import type { Api } from '../http/api.ts';
import { audit } from '../http/audit.ts';
import { entryNotFound } from '../http/errors.ts';
import { pageInOrder, pageOf, pageQuery } from '../http/page.ts';
import { documentOnly, ifMatch, named, namedObject, optionalText, time } from '../http/schemas.ts';
import { testMessage } from './message.ts';
import type { Notifier } from './notifier.ts';
import type { Messenger } from './send.ts';

const shown = documentOnly(
  named('Notification', notificationSchema),
  'a notification with a mask for each secret',
);
const listedIncidents = 20;

const statusSchema = namedObject('NotificationStatus', {
  id: Type.String(),
  state: Type.Enum(['quiet', 'sending', 'sent', 'failed'], {
    description: 'of the latest message; quiet: there was none',
  }),
  sentAt: Type.Optional(time('when a message was last accepted')),
  failedAt: Type.Optional(
    time('of a message that failed; it is sent again while there is something to tell'),
  ),
  reason: optionalText('why it failed'),
  openCount: Type.Integer({ description: 'the problems that were told and are not over' }),
  open: Type.Array(
    Type.Object({
      event: Type.Enum([...notificationEvents]),
      sourceId: Type.Optional(Type.String()),
      destinationId: Type.Optional(Type.String()),
      since: time(),
    }),
    { description: `the first ${listedIncidents} of them` },
  ),
});

export interface NotificationNeeds {
  readonly config: ConfigEditor;
  readonly messenger: Pick<Messenger, 'send'>;
  readonly notifier: Pick<Notifier, 'status'>;
}

export function notificationRoutes(app: Api, { config, messenger, notifier }: NotificationNeeds): void {
  const kind = 'notification';
  const entries = entriesOf(config, { kind, load, valid, show: maskNotification });
  const route = entryRoutes(app, {
    tag: 'Notifications',
    kind,
    entries,
    bodies: notificationBodies,
    shown,
    errors: secretErrors,
    idPrefix: 'ntf',
    about: {
      create: `A missing id is generated. There are at most ${maxNotifications}.`,
      replace: 'A mask keeps the stored secret.',
    },
  });
  const places = new Places('notificationTests');

  route.get('/notifications', {
    operationId: 'listNotifications',
    summary: 'List the notifications by id',
    querystring: pageQuery,
    response: { 200: pageOf(shown) },
    handler: ({ query }) => {
      const { items, ...rest } = pageInOrder('notifications', config.notifications(), query, ({ id }) => id);
      return { items: items.map(maskNotification), ...rest };
    },
  });

  route.delete('/notifications/:id', {
    operationId: 'deleteNotification',
    summary: 'Delete a notification',
    headers: ifMatch,
    response: { 204: { type: 'null', description: 'deleted' } },
    errors: ['precondition-failed'],
    handler: (request, reply) => entries.remove(request, reply),
  });

  route.post('/notifications/:id/test', {
    operationId: 'testNotification',
    summary: 'Send a test message of a notification',
    description:
      'Sent immediately and once, also while the notification is disabled. PagerDuty gets an alert that is resolved at once.',
    body: Type.Union([Type.Object({}, { additionalProperties: false }), Type.Null()]),
    response: {
      200: namedObject('NotificationTest', {
        accepted: Type.Boolean(),
        reason: optionalText('why it was not accepted'),
      }),
    },
    handler: async (request) => {
      const { id } = request.params;
      audit(request, 'notification.test', `notification/${id}`);
      const notification = load(config, id);
      using _place = places.take(request.caller);
      const sent = await messenger.send(notification, testMessage(id, Date.now()), config);
      return { accepted: sent.ok, ...(!sent.ok && { reason: sent.reason }) };
    },
  });

  route.get('/notification-status', {
    operationId: 'listNotificationStatus',
    summary: 'List what became of the latest message of each notification, and which problems are open',
    response: { 200: Type.Object({ items: Type.Array(statusSchema) }) },
    handler: () => ({ items: notifier.status().map(statusOf) }),
  });

  const statusOf = ({ id, latest, open }: ReturnType<Notifier['status']>[number]) => {
    const failed = latest?.state === 'failed' ? latest : undefined;
    return {
      id,
      state: latest?.state ?? ('quiet' as const),
      ...(latest?.sentAt !== undefined && { sentAt: latest.sentAt }),
      ...(failed && { failedAt: failed.failedAt, reason: failed.reason }),
      openCount: open.length,
      open: open.slice(0, listedIncidents).map(({ event, subject, since }) => ({
        event,
        ...(event === 'source.silent' ? { sourceId: subject } : { destinationId: subject }),
        since: formatInstant(since),
      })),
    };
  };
}

/** @throws TailraceError `not-found` */
function load(current: Pick<ConfigSnapshot, 'notification'>, id: string): Notification {
  const found = current.notification(id);
  if (found) return found;
  throw entryNotFound('notification', id.slice(0, 64));
}

/** @throws TailraceError `invalid-configuration`, `conflict` */
function valid(wanted: unknown, stored: Notification | undefined, current: ConfigSnapshot): Notification {
  if (!stored && current.notifications().length >= maxNotifications) {
    throw new TailraceError(
      'conflict',
      `There are ${maxNotifications} notifications, the maximum. Delete one first.`,
    );
  }
  const unmasked = unmaskNotification(wanted, stored);
  if ('problems' in unmasked) throw problemsError(unmasked.problems);
  const exists = {
    source: (id: string) => id !== builtInSource.id && current.source(id) !== undefined,
    destination: (id: string) => current.destination(id) !== undefined,
  };
  return requireValid(checkNotification(unmasked.value), (entry) => missingSubjects(entry, exists, []));
}
