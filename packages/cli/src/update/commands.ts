/** Commands that change fields of sources, destinations and notifications: `update` and `edit`. */
import { apiCommand, repeatable, type Declared } from '../declare.ts';
import { destinationFields, sourceFields } from '../entry-options.ts';

const rest =
  '--set changes any field by its path, as "tailrace get -o json" shows it: --set settings.traceparent=true. The value is JSON ' +
  'or else a text; null removes the field, as --unset does. env:NAME and file:PATH stand for a value that must not be ' +
  'on the command line. Fields that are not named stay, secrets too.';

const examples = { source: 'web', destination: 'crm', notification: 'on-call' };

const anyField = {
  set: repeatable('<field=value>', 'set any field'),
  unset: repeatable('<field>', 'remove a field'),
};

export const updateCommands: readonly Declared[] = [
  apiCommand({
    words: 'update source',
    summary: 'change fields of a source',
    description: `Change fields of a source.\n\n${rest}`,
    arguments: { '<id>': 'the id of the source' },
    options: { ...sourceFields('update'), ...anyField },
    examples: [
      'update source web --name Website',
      'update source web --rate-limit 500',
      'update source web --unset rateLimit',
    ],
    request: async (values, context) => (await import('./update.ts')).updateSource(values, context),
  }),
  apiCommand({
    words: 'update destination',
    summary: 'change fields of a destination',
    description:
      'Change fields of a destination.\n\n' +
      'The headers of --header and --secret-header replace those of every URL. A URL that stays keeps its headers otherwise.\n\n' +
      rest,
    arguments: { '<id>': 'the id of the destination' },
    options: { ...destinationFields('update'), ...anyField },
    examples: [
      'update destination crm --url https://crm.example.com/v2/hook',
      'update destination crm --rate-limit 50 --ordering user',
      'update destination crm --set settings.standardWebhooks=true --unset name',
      'update destination crm --set disableAfter=3d',
      'update destination crm --set timeout=2s --set \'retry.on=["5xx",429,409]\'',
      `update destination crm --set 'fields.exclude=["context.ip"]' --set sample.percent=10`,
      'update destination crm --set settings.auth.token=env:CRM_TOKEN',
      'update destination crm --set settings.oauth2.clientSecret=env:CRM_CLIENT_SECRET',
      'update destination crm --set settings.signature.algorithm=hmac-sha256',
      "update destination crm --set 'settings.ed25519={}'",
      "update destination crm --set 'settings.webhooks[0].headers.X-Team=sales'",
    ],
    request: async (values, context) => (await import('./update.ts')).updateDestination(values, context),
  }),
  apiCommand({
    words: 'update notification',
    summary: 'change fields of a notification',
    description: `Change fields of a notification.\n\n${rest}`,
    arguments: { '<id>': 'the id of the notification' },
    options: anyField,
    examples: [
      'update notification on-call --set silentAfter=6h',
      'update notification on-call --unset destinations',
    ],
    request: async (values, context) => (await import('./update.ts')).updateNotification(values, context),
  }),
  ...(['source', 'destination', 'notification'] as const).map((kind) =>
    apiCommand({
      words: `edit ${kind}`,
      summary: `edit a ${kind} in $EDITOR`,
      description:
        `Edit a ${kind} as YAML in the editor that VISUAL or EDITOR names. An unchanged or empty file changes nothing. An invalid one ` +
        'is opened again with the problems as a comment, and so is the present version where somebody else changed it meanwhile. ' +
        '******** keeps a secret.',
      arguments: { '<id>': `the id of the ${kind}` },
      examples: [`EDITOR=nano tailrace edit ${kind} ${examples[kind]}`],
      request: async ({ id }, context) => (await import('./edit.ts')).editEntry(kind, id, context),
    }),
  ),
];
