/** `tailrace audience`: brings the members of an audience to what a file says. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { Transform, type Readable } from 'node:stream';
import { openApi, pathOf, type Api } from './api.ts';
import { defineCommand, exitCodes, UsageError, type CommandContext, type Outcome } from './command.ts';
import { limitOption, outcomeOfPage, type Columns } from './get.ts';
import { perSource } from './get-history.ts';
import { countOf, formatCount, printable } from './table.ts';
import { pause } from './terminal.ts';

const lookEveryMs = 500;
const contentTypes = { ndjson: 'application/x-ndjson', csv: 'text/csv' } as const;
type Format = keyof typeof contentTypes;

const names = {
  source: {
    type: 'string',
    positional: true,
    required: true,
    placeholder: 'SOURCE',
    help: "the source's id",
  },
  name: {
    type: 'string',
    positional: true,
    required: true,
    placeholder: 'NAME',
    help: "the audience's name",
  },
} as const;

interface AudienceSync {
  readonly id: string;
  readonly state: 'running' | 'done' | 'failed' | 'interrupted';
  /** Users in the upload. */
  readonly members: number;
  /** Known once the upload has been compared with what was. */
  readonly added?: number;
  readonly removed?: number;
  readonly total?: number;
  readonly sent: number;
  readonly problem?: { readonly message: string };
}

interface Audience {
  readonly source: string;
  readonly name: string;
  readonly members: number;
  readonly sync: AudienceSync;
}

export const audienceSync = defineCommand({
  name: 'audience sync',
  summary: 'bring the members of an audience to what a file says',
  details: [
    'The file holds all members, a line each: a JSON string or {"userId": "..."}, or CSV with a column userId, or with\n' +
      'one column. Only who joined or left since the last sync is told to the destinations, as an Identify.',
    'It may be interrupted at any moment: the same command with the same file continues, and tells nobody twice.',
  ],
  examples: [
    'audience sync web vip members.csv',
    'export-members | tailrace audience sync web vip - --format ndjson',
  ],
  through: 'api',
  options: {
    ...names,
    file: {
      type: 'string',
      positional: true,
      required: true,
      placeholder: 'FILE',
      help: 'the members; - reads standard input',
    },
    format: {
      type: 'string',
      placeholder: 'FORMAT',
      choices: ['ndjson', 'csv'],
      help: 'what the file is (default: csv where its name ends in .csv, else ndjson)',
    },
    rate: {
      type: 'integer',
      placeholder: 'N',
      min: 1,
      max: 1_000_000,
      help: 'tell at most N users a second',
    },
    'allow-empty': { type: 'boolean', help: 'let everybody leave, by a file without members' },
  },
  async run({ source, name, file, format, rate, 'allow-empty': allowEmpty }, context) {
    const signal = context.terminal.interruption();
    const isCsv = format === undefined ? path.extname(file).toLowerCase() === '.csv' : format === 'csv';
    const contentType = contentTypes[isCsv ? 'csv' : ('ndjson' satisfies Format)];
    const content = await openFile(file, context);
    signal.addEventListener('abort', () => content.destroy());
    const api = openApi(context);
    const at = pathOf('sources', source, 'audiences', name);
    let sync: AudienceSync;
    try {
      const query = { ratePerSecond: rate, ...(allowEmpty && { allowEmpty }) };
      sync = await api.upload<AudienceSync>(at, content, contentType, query);
    } catch (error) {
      if (!signal.aborted) throw error;
      return interrupted();
    }
    return waitFor(api, at, sync, context, signal);
  },
});

function interrupted(): Outcome {
  return {
    exitCode: exitCodes.interrupted,
    text: ['Interrupted. The same command with the same file continues.'],
    json: { state: 'interrupted' },
  };
}

/** The bytes of the file, with progress as they are read. */
async function openFile(file: string, { input, terminal }: CommandContext): Promise<Readable> {
  let bytes = 0;
  let total: number | undefined;
  if (file !== '-') {
    const found = await stat(file).catch((error: unknown) => {
      throw new UsageError(`${file}: ${(error as Error).message}`);
    });
    if (found.isFile()) total = found.size;
  }
  const mb = (count: number): string => (count / 1_000_000).toFixed(1);
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      terminal.progress(`Sending: ${mb(bytes)}${total === undefined ? '' : ` of ${mb(total)}`} MB`);
      done(null, chunk);
    },
  });
  const read = file === '-' ? input() : createReadStream(file);
  read.once('error', (error: Error) => counted.destroy(error));
  return read.pipe(counted);
}

async function waitFor(
  api: Api,
  at: string,
  begun: AudienceSync,
  { terminal }: CommandContext,
  signal: AbortSignal,
): Promise<Outcome> {
  let sync = begun;
  while (sync.state === 'running') {
    const { sent, total } = sync;
    terminal.progress(
      total === undefined ? 'Comparing' : `Told ${formatCount(sent)} of ${formatCount(total)} changes`,
    );
    if (!(await pause(lookEveryMs, signal))) return interrupted();
    ({ sync } = await api.get<Audience>(at));
  }
  const { state, members, added = 0, removed = 0, sent, problem } = sync;
  const why = problem === undefined ? '' : ` ${problem.message}`;
  return {
    exitCode: state === 'done' ? exitCodes.done : exitCodes.failed,
    text: [
      state === 'done'
        ? `${countOf(members, 'member')}: ${formatCount(added)} joined, ${formatCount(removed)} left, ${formatCount(sent)} told.`
        : printable(
            `The sync ${state === 'failed' ? 'failed' : 'was interrupted'}; the same command continues it.${why}`,
          ),
    ],
    json: sync,
  };
}

const columns: Columns<Audience> = {
  SOURCE: ({ source }) => source,
  NAME: ({ name }) => name,
  MEMBERS: ({ members }) => formatCount(members),
  'LAST SYNC': ({ sync }) => sync.state,
  JOINED: ({ sync }) => formatCount(sync.added ?? 0),
  LEFT: ({ sync }) => formatCount(sync.removed ?? 0),
};

const listing = {
  summary: 'list audiences',
  details: ['With the number of members, and what the last sync did.'],
  through: 'api',
  options: {
    source: {
      type: 'string',
      positional: true,
      placeholder: 'SOURCE',
      help: "a source's id; all sources where it is left out",
    },
    ...limitOption,
  },
  async run(
    { source, limit }: { readonly source: string | undefined; readonly limit: number },
    context: CommandContext,
  ): Promise<Outcome> {
    const api = openApi(context);
    const page = await perSource<Audience>(api, source, (id) =>
      api.list(pathOf('sources', id, 'audiences'), {}, limit),
    );
    return outcomeOfPage(page, 'audience', columns);
  },
} as const;

export const audienceList = defineCommand({
  name: 'audience list',
  examples: ['audience list web'],
  ...listing,
});
export const getAudiences = defineCommand({
  name: 'get audiences',
  examples: ['get audiences web'],
  ...listing,
});

export const audienceDelete = defineCommand({
  name: 'audience delete',
  summary: 'delete an audience',
  details: ['Tells the destinations of every member that it is none any more. On a terminal it asks before.'],
  examples: ['audience delete web vip'],
  through: 'api',
  options: { ...names, yes: { type: 'boolean', help: 'do not ask' } },
  async run({ source, name, yes }, context) {
    const api = openApi(context);
    const at = pathOf('sources', source, 'audiences', name);
    if (
      !yes &&
      !(await context.terminal.confirm(`Delete the audience ${printable(name)} of ${printable(source)}?`))
    ) {
      return { exitCode: exitCodes.failed, text: ['Nothing was deleted.'], json: { deleted: false } };
    }
    const sync = await api.send<AudienceSync | undefined>('DELETE', at);
    return {
      exitCode: exitCodes.done,
      text: [printable(`The audience ${name} of ${source} is deleted; its members are being told.`)],
      json: sync ?? { deleted: true },
    };
  },
});
