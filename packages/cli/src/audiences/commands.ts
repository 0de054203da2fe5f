import type { Schema } from '@tailrace/api';
import { pathOf } from '../api/path.ts';
import { done, listBySource, showPage, type Columns } from '../api/show.ts';
import { apiCommand, choice, flag, integer, limit, text, type Declared } from '../declare.ts';
import { formatCount } from '../terminal/table.ts';

const columns: Columns<Schema['Audience'] & { readonly source: string }> = {
  SOURCE: ({ source }) => source,
  NAME: ({ name }) => name,
  MEMBERS: ({ members }) => formatCount(members),
  'LAST SYNC': ({ sync }) => sync.state,
  JOINED: ({ sync }) => formatCount(sync.added ?? 0),
  LEFT: ({ sync }) => formatCount(sync.removed ?? 0),
};

const ids = { '<source>': 'the id of the source', '<name>': 'the name of the audience' };

export const audienceCommands: readonly Declared[] = [
  apiCommand({
    words: 'audience sync',
    summary: 'set the members of an audience from a file',
    description:
      'Set the members of an audience from a file. Only users who joined or left since the last sync are sent to ' +
      'the destinations, as Identify calls.\n\n' +
      'The file has one member per line: a JSON string, {"userId": "..."}, or CSV with a column userId or a ' +
      'single column. With --changes it has only users who join and leave: {"added": ["..."], "removed": ["..."]} on each line, ' +
      'or CSV with the columns added and removed.\n\n' +
      'With --destination there is no file: the present members are sent to that destination alone, for example because it was ' +
      'connected later.\n\n' +
      'It may be interrupted at any time; the same command with the same file continues, and sends no change twice.',
    arguments: { ...ids, '[file]': 'the members; - reads standard input' },
    options: {
      changes: flag('the file has only users who join and leave; all other members stay'),
      destination: text('<id>', 'send the present members to this destination'),
      format: choice(
        '<format>',
        'format of the file (default: csv for a name that ends in .csv, else ndjson)',
        ['ndjson', 'csv'],
      ),
      rate: integer('send at most N changes a second', 1, 1_000_000),
      allowEmpty: flag('accept a file without members, which removes all members'),
      dryRun: flag('show who would join and leave, and change nothing'),
    },
    examples: [
      'audience sync web vip members.csv --dry-run',
      'audience sync web vip members.csv',
      'export-members | tailrace audience sync web vip - --format ndjson',
      'audience sync web vip changes.csv --changes',
      'audience sync web vip --destination crm',
    ],
    request: async (values, context) => (await import('./sync.ts')).syncAudience(values, context),
  }),
  ...['audience list', 'get audiences'].map((words) =>
    apiCommand({
      words,
      summary: 'list audiences',
      description: 'List audiences with the number of members and the result of the last sync.',
      arguments: { '[source]': 'the id of a source (default: all sources)' },
      options: limit(),
      examples: [`${words} web`],
      async request({ source, limit }, { api }) {
        const page = await listBySource<Schema['Audience']>(api, source, (id) =>
          api.list(pathOf('sources', id, 'audiences'), {}, limit),
        );
        return showPage(page, 'audience', columns);
      },
    }),
  ),
  apiCommand({
    words: 'audience delete',
    summary: 'delete an audience',
    description:
      'Delete an audience, and send to the destinations that each member left. Asks for confirmation on a terminal.',
    arguments: ids,
    examples: ['audience delete web vip'],
    confirm: {
      question: ({ source, name }) => `Delete the audience ${name} of ${source}?`,
      refused: { text: ['Nothing was deleted.'], json: { deleted: false } },
    },
    async request({ source, name }, { api }) {
      const path = pathOf('sources', source, 'audiences', name);
      const sync = await api.send<Schema['AudienceSync'] | undefined>('DELETE', path);
      return done(
        `The audience ${name} of ${source} is deleted; the destinations are being notified.`,
        sync ?? { deleted: true },
      );
    },
  }),
];
