/** Commands that apply, show, create and test sources and destinations. `change-commands.ts` has the rest. */
import type { Schema } from '@tailrace/api';
import type { Destination, Notification, Source } from '@tailrace/config';
import { pathOf } from '../api/path.ts';
import { showPage, showValue, type Columns } from '../api/show.ts';
import {
  apiCommand,
  choice,
  command,
  eventTypes,
  file,
  flag,
  integer,
  limit,
  optional,
  required,
  text,
  type Declared,
  type Options,
} from '../declare.ts';
import { destinationFields, sourceFields } from '../entry-options.ts';
import { notificationColumns } from '../notifications/commands.ts';
import { formatCount } from '../terminal/table.ts';

const stateOf = ({ enabled, paused }: { readonly enabled: boolean; readonly paused?: boolean }): string =>
  enabled ? (paused ? 'paused' : 'enabled') : 'disabled';
const dashed = (text: string | undefined): string => (text === undefined || text === '' ? '-' : text);

const sourceColumns: Columns<Source> = {
  ID: ({ id }) => id,
  NAME: ({ name }) => dashed(name),
  STATE: stateOf,
  'WRITE KEYS': ({ writeKeys }) => writeKeys.join(', '),
  BLOCKED: ({ schema }) => formatCount(schema?.track?.blocked.length ?? 0),
};

const destinationColumns: Columns<Destination> = {
  ID: ({ id }) => id,
  NAME: ({ name }) => dashed(name),
  TYPE: ({ type }) => type,
  STATE: stateOf,
  SOURCES: ({ sources }) => dashed(sources.join(', ')),
  URLS: ({ settings }) => settings.webhooks.map(({ url }) => url).join(', '),
};

const catalogColumns: Columns<Schema['CatalogEntry']> = {
  TYPE: ({ type }) => type,
  CALLS: ({ supportedCalls }) => supportedCalls.join(', '),
  'PAST TIMESTAMPS': ({ acceptsHistoricalTimestamps }) => (acceptsHistoricalTimestamps ? 'yes' : 'no'),
  DESCRIPTION: ({ description }) => description,
};

const newEntry = {
  id: text('<id>', 'the id (default: generated)'),
  disabled: flag('create it disabled'),
};

export const configurationCommands: readonly Declared[] = [
  command({
    words: 'apply',
    summary: 'create, update and delete entries as a file says',
    description:
      'Create, update and delete sources, destinations and notifications as a file says.\n\n' +
      'The file is YAML or JSON; packages/config/README.md describes it. All problems of the file are reported ' +
      'together, and nothing is changed if there is one. --dry-run shows the changed fields, before and after, ' +
      'except secrets, write keys, header values and URL queries.\n\n' +
      'Where a secret may stand, env:NAME is the value of an environment variable and file:PATH the content of a ' +
      'file, whose path is relative to the configuration. Write literal:TEXT for a secret that begins with one of ' +
      'these words. The mask that "tailrace get" shows in place of a secret is refused.\n\n' +
      'Entries that are in Kafka and not in the file are kept, unless --prune is given. --prune asks on a terminal, ' +
      'and needs --yes elsewhere. Where the file has no source, or no destination, it deletes all of them only with --all. Where it does not ' +
      'name notifications, they stay; "notifications: []" deletes all.',
    options: {
      file: required(file('the configuration; - reads standard input')),
      dryRun: flag('show the changes without making them'),
      prune: flag('delete entries that are not in the file'),
      yes: flag('with --prune, do not ask for confirmation'),
      all: flag('with --prune, delete all sources where the file has none, and likewise destinations'),
    },
    examples: [
      'apply -f tailrace.yaml',
      'apply -f tailrace.yaml --dry-run --prune',
      'apply -f - < tailrace.yaml',
    ],
    reads: ['kafka'],
    run: async (values, context) => (await import('./apply.ts')).applyFile(values, context),
  }),
  apiCommand({
    words: 'get catalog',
    summary: 'list the destination types, or show one',
    description: 'List the destination types, or show one with the JSON Schema of its settings.',
    arguments: { '[type]': 'the type to show' },
    examples: ['get catalog', 'get catalog Webhooks'],
    async request({ type }, { api }) {
      if (type !== undefined) return showValue(await api.get(pathOf('catalog', type)));
      const page = await api.list<Schema['CatalogEntry']>(pathOf('catalog'), {}, 1_000);
      return showPage(page, 'type', catalogColumns);
    },
  }),
  ...shown('source', 'web', sourceColumns),
  ...shown('destination', 'crm', destinationColumns),
  ...shown('notification', 'on-call', notificationColumns),
  apiCommand({
    words: 'create source',
    summary: 'create a source and its write key',
    description:
      'Create a source and its write key. Clients need the write key to send calls; it is in the result.',
    options: withFile({ ...newEntry, ...sourceFields('create') }),
    examples: [
      'create source --id web --name Website',
      "create source --id app --write-key wk_app --block 'Debug Event'",
      'create source -f source.yaml',
    ],
    request: async (values, context) => (await import('./create.ts')).createSource(values, context),
  }),
  apiCommand({
    words: 'create destination',
    summary: 'create a destination',
    description:
      'Create a destination.\n\n' +
      'Every --header is sent to every --url; use --file for different headers.\n\n' +
      'Other users of the machine can see command lines, and the shell keeps them in its history. Therefore ' +
      '--secret and header values accept env:NAME, the value of an environment variable, and file:PATH, the ' +
      'content of a file; --secret also accepts -, the first line of standard input. Write literal:TEXT for a ' +
      'value that begins with one of these words.',
    options: withFile({
      ...newEntry,
      type: text('<type>', 'a type of "tailrace get catalog" (default: Webhooks)'),
      ...destinationFields('create'),
    }),
    examples: [
      'create destination --id crm --url https://crm.example.com/hook --source web \\\n' +
        '      --secret env:CRM_SECRET',
      'create destination --url https://a.example.com --url https://b.example.com \\\n' +
        "      --header 'X-Team: growth'",
      'create destination --url https://erp.example.com \\\n' +
        "      --secret-header 'Authorization: env:ERP_TOKEN'",
      'create destination -f destination.yaml',
    ],
    request: async (values, context) => (await import('./create.ts')).createDestination(values, context),
  }),
  apiCommand({
    words: 'test',
    summary: 'send a test event to a destination, or try its filter or transform',
    description:
      'Send a sample event, the call in a file, or a past event again, to a destination, and show the response.\n\n' +
      'Each URL gets one request. The event is not counted, kept or retried. Exits with 1 if no URL answers with 2xx.\n\n' +
      'With --filter nothing is sent: the filter of the destination, or the one in a file, is tried on the event. ' +
      'Exits with 1 if it does not pass.\n\n' +
      'With --transform nothing is sent either: the transform of the destination, or the one in a file, is run on the event, and its result, ' +
      'its logs and its time are shown. Exits with 1 if it fails, with the line.\n\n' +
      'Files are YAML or JSON, and JavaScript for --transform; - reads standard input.',
    arguments: { '<destination>': 'the id of the destination' },
    options: {
      type: choice('<type>', 'the type of the sample (default: track)', eventTypes),
      webhook: integer('send only to the Nth URL, counted from 1', 1, 5),
      filter: optional('[file]', 'try the filter of the destination, or that in a file, and send nothing'),
      transform: optional(
        '[file]',
        'run the transform of the destination, or that in a file, and send nothing',
      ),
      call: text('<file>', 'use this tracking call instead of a sample'),
      event: text('<id>', 'use the past event with this messageId instead of a sample'),
    },
    examples: [
      'test crm',
      'test crm --type identify',
      'test crm --type delete --webhook 1',
      'test crm --call call.json',
      'test crm --filter',
      'test crm --filter filter.yaml --call call.json',
      'test crm --transform transform.js --event order-1042',
    ],
    request: async (values, context) => (await import('./test-event.ts')).testDestination(values, context),
  }),
];

/** The list of the entries of a kind, and one of them. As YAML they are a file for `tailrace apply`. */
function shown(
  kind: 'source' | 'destination' | 'notification',
  example: string,
  columns: Columns<never>,
): Declared[] {
  const list = `${kind}s` as const;
  return [
    apiCommand({
      words: `get ${list}`,
      summary: `list ${list}`,
      description: `List ${list}. --output yaml writes a file for "tailrace apply", with env:NAME in place of each secret.`,
      options: limit(),
      examples: [`get ${list}`, `get ${list} --limit 1000 --output yaml`],
      async request({ limit }, { api }) {
        const { fileOf } = await import('./entries-file.ts');
        const page = await api.list<never>(pathOf(list), {}, limit);
        const incomplete = `Only the first ${page.items.length} ${list}; --limit shows more. Do not apply it with --prune.`;
        const yaml = fileOf({ [list]: page.items }, page.more ? [incomplete] : []);
        return { ...showPage(page, kind, columns), yaml };
      },
    }),
    apiCommand({
      words: `get ${kind}`,
      summary: `show a ${kind}`,
      description:
        `Show a ${kind} as a file for "tailrace apply". Secrets are not shown: the file has env:NAME in their ` +
        'place, and a comment that lists the variables.',
      arguments: { '<id>': `the id of the ${kind}` },
      examples: [`get ${kind} ${example}`],
      async request({ id }, { api }) {
        const { fileOf } = await import('./entries-file.ts');
        const entry = await api.get<Source & Destination & Notification>(pathOf(list, id));
        const lines = fileOf({ [list]: [entry] });
        return { text: lines, yaml: lines, json: entry };
      },
    }),
  ];
}

/** Adds --file, which replaces all other options. */
function withFile<Own extends Options>(others: Own) {
  const whole = file('read the entry from a YAML or JSON file instead of options; - reads standard input');
  const alone: typeof whole = { named: (flag) => whole.named(flag).conflicts(Object.keys(others)) };
  return { ...others, file: alone };
}
