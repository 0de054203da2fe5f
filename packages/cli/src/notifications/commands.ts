/** Commands for notifications. Those for one field, and for a file, are beside those of sources and destinations. */
import type { Schema } from '@tailrace/api';
import type { Notification } from '@tailrace/config';
import { pathOf } from '../api/path.ts';
import { done, type Columns } from '../api/show.ts';
import { UsageError, exitCodes } from '../command.ts';
import { apiCommand, file, listCommand, repeatable, text, type Declared } from '../declare.ts';

const statusColumns: Columns<Schema['NotificationStatus']> = {
  ID: ({ id }) => id,
  STATE: ({ state }) => state,
  SENT: ({ sentAt }) => sentAt ?? '-',
  OPEN: ({ openCount }) => String(openCount),
  FAILED: ({ failedAt }) => failedAt ?? '-',
  REASON: ({ reason }) => reason ?? '-',
};

export const notificationColumns: Columns<Notification> = {
  ID: ({ id }) => id,
  NAME: ({ name }) => name ?? '-',
  STATE: ({ enabled }) => (enabled ? 'enabled' : 'disabled'),
  EVENTS: ({ events }) => events?.join(', ') ?? 'all',
  TO: ({ destination, webhook, email }) =>
    destination ?? email?.to.join(', ') ?? `${webhook?.format ?? 'json'} ${webhook?.url ?? ''}`.trim(),
};

export const notificationCommands: readonly Declared[] = [
  apiCommand({
    words: 'create notification',
    summary: 'create a notification',
    description:
      'Create a notification: who is told when a destination fails, is disabled or has dead letters, and when nothing arrives at a source.\n\n' +
      '--set names any field by its path, as packages/config/README.md lists them. env:NAME and file:PATH stand for a value that must not be ' +
      'on the command line.',
    options: {
      id: text('<id>', 'the id (default: generated)'),
      set: repeatable('<field=value>', 'set any field'),
      file: file('read the entry from a YAML or JSON file instead; - reads standard input'),
    },
    examples: [
      'create notification --id chat --set webhook.format=slack --set webhook.url=env:SLACK_URL',
      'create notification --id on-call --set webhook.format=pagerduty \\\n' +
        '      --set webhook.routingKey=env:PAGERDUTY_KEY --set \'events=["destination.failing"]\'',
      'create notification --id mail --set \'email.to=["ops@example.com"]\' \\\n' +
        '      --set email.from=tailrace@example.com --set email.server=smtps://smtp.example.com',
      'create notification --id hook --set destination=pager',
      'create notification -f notification.yaml',
    ],
    async request({ id, set = [], file }, context) {
      if (file !== undefined && (set.length > 0 || id !== undefined)) {
        throw new UsageError('--file excludes --id and --set');
      }
      const { notificationOf } = await import('./create.ts');
      const entry = await notificationOf({ id, set, file }, context);
      const created = await context.api.send<Notification>('POST', pathOf('notifications'), entry);
      const test = `To send a test message: tailrace test-notification ${created.id}`;
      return done([`The notification ${created.id} is created.`, test], created);
    },
  }),
  listCommand({
    words: 'get notification-status',
    summary: 'list what became of the latest message of each notification',
    description:
      'List what became of the latest message of each notification, and how many problems are open.',
    examples: ['get notification-status'],
    path: 'notification-status',
    noun: 'notification',
    columns: statusColumns,
  }),
  apiCommand({
    words: 'test-notification',
    summary: 'send a test message of a notification',
    description:
      'Send a test message of a notification, also while it is disabled. PagerDuty gets an alert that is resolved at once. Exits with 1 if ' +
      'it is not accepted.',
    arguments: { '<notification>': 'the id of the notification' },
    examples: ['test-notification on-call'],
    async request({ notification }, { api }) {
      const path = pathOf('notifications', notification, 'test');
      const tested = await api.send<Schema['NotificationTest']>('POST', path);
      const { accepted, reason } = tested;
      return {
        exitCode: accepted ? exitCodes.done : exitCodes.failed,
        text: [
          accepted ? 'The test message is accepted.' : `The test message is not accepted: ${reason ?? ''}`,
        ],
        json: tested,
      };
    },
  }),
];
