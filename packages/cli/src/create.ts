/** `tailrace create`: a source or a destination, from options or from a file. */
import { readFileSync } from 'node:fs';
import { text as textOf } from 'node:stream/consumers';
import type { Destination, Source } from '@tailrace/config';
import { parse as parseYaml } from 'yaml';
import { openApi } from './api.ts';
import {
  defineCommand,
  exitCodes,
  UsageError,
  type CommandContext,
  type OptionSpecs,
  type Outcome,
} from './command.ts';
import { printable } from './table.ts';

const common = {
  file: {
    type: 'string',
    short: 'f',
    placeholder: 'FILE',
    help: 'the whole of it in YAML or JSON, instead of options; - reads standard input',
  },
  id: { type: 'string', placeholder: 'ID', help: 'made up where it is left out' },
  name: { type: 'string', placeholder: 'NAME', help: 'what people call it' },
  disabled: { type: 'boolean', help: 'switched off at first' },
} as const satisfies OptionSpecs;

const rateLimit = {
  type: 'integer',
  placeholder: 'N',
  min: 1,
  max: 1_000_000,
} as const;

export const createSource = defineCommand({
  name: 'create source',
  summary: 'create a source, with a write key',
  details: ['Shows the write key, which a client needs to send calls.'],
  examples: [
    'create source --id web --name Website',
    "create source --id app --write-key wk_app --block 'Debug Event'",
    'create source -f source.yaml',
  ],
  through: 'api',
  options: {
    ...common,
    'write-key': { type: 'list', placeholder: 'KEY', help: 'made up where none is given' },
    block: { type: 'list', placeholder: 'EVENT', help: 'do not forward this track event' },
    'rate-limit': { ...rateLimit, help: 'at most N calls a second' },
  },
  async run({ file, ...options }, context) {
    const wanted = file === undefined ? sourceOf(options) : await readEntry(file, options, context);
    const created = await openApi(context).send<Source>('POST', '/v1/sources', wanted);
    return {
      exitCode: exitCodes.done,
      text: [
        `The source ${created.id} is created.`,
        `Write ${created.writeKeys.length === 1 ? 'key' : 'keys'}: ${created.writeKeys.join(', ')}`,
      ],
      json: created,
    };
  },
});

interface SourceOptions {
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly disabled: boolean;
  readonly 'write-key': readonly string[];
  readonly block: readonly string[];
  readonly 'rate-limit': number | undefined;
}

function sourceOf(options: SourceOptions) {
  const { id, name, disabled, block, 'write-key': writeKeys, 'rate-limit': limit } = options;
  return {
    id,
    name,
    ...(writeKeys.length > 0 && { writeKeys }),
    ...(disabled && { enabled: false }),
    ...(block.length > 0 && { schema: { track: { blocked: block } } }),
    rateLimit: limit,
  };
}

export const createDestination = defineCommand({
  name: 'create destination',
  summary: 'create a destination',
  details: [
    'Every --header goes with the requests to every --url; give a file where they differ.',
    'A command line can be seen by other users of the machine, and stays in the history of the shell. So the value of\n' +
      '--secret, or of a header, may be env:NAME, which is the value of that environment variable, and --secret may\n' +
      'be -, which is the first line of standard input.',
  ],
  examples: [
    'create destination --id crm --url https://crm.example.com/hook --source web --secret env:CRM_SECRET',
    "create destination --url https://a.example.com --url https://b.example.com --header 'X-Team: growth'",
    "create destination --id erp --url https://erp.example.com --secret-header 'Authorization: env:ERP_TOKEN'",
    'create destination -f destination.yaml',
  ],
  through: 'api',
  options: {
    ...common,
    type: { type: 'string', placeholder: 'TYPE', help: 'as in tailrace get catalog (default Webhooks)' },
    url: { type: 'list', placeholder: 'URL', help: 'where webhooks go; up to five' },
    header: { type: 'list', placeholder: "'NAME: VALUE'", help: 'goes with every request; up to five' },
    'secret-header': {
      type: 'list',
      placeholder: "'NAME: VALUE'",
      help: 'the same, never shown again and encrypted at rest',
    },
    secret: { type: 'string', placeholder: 'SECRET', help: 'signs every request' },
    source: { type: 'list', placeholder: 'ID', help: 'a source whose events it gets' },
    'rate-limit': { ...rateLimit, help: 'at most N requests a second' },
    ordering: {
      type: 'string',
      placeholder: 'ORDERING',
      choices: ['none', 'user'],
      help: 'user: the events of one user one after the other',
    },
  },
  async run({ file, ...options }, context) {
    const wanted =
      file === undefined ? await destinationOf(options, context) : await readEntry(file, options, context);
    const created = await openApi(context).send<Destination>('POST', '/v1/destinations', wanted);
    const from = created.sources.length === 0 ? 'no source yet' : created.sources.join(', ');
    return {
      exitCode: exitCodes.done,
      text: [
        printable(
          `The destination ${created.id} is created, and switched ${created.enabled ? 'on' : 'off'}.`,
        ),
        printable(`It gets the events of ${from}.`),
      ],
      json: created,
    } satisfies Outcome;
  },
});

interface DestinationOptions {
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly disabled: boolean;
  readonly type: string | undefined;
  readonly url: readonly string[];
  readonly header: readonly string[];
  readonly 'secret-header': readonly string[];
  readonly secret: string | undefined;
  readonly source: readonly string[];
  readonly 'rate-limit': number | undefined;
  readonly ordering: string | undefined;
}

async function destinationOf(options: DestinationOptions, context: CommandContext) {
  const { id, name, disabled, type = 'Webhooks', url: urls, source: sources, ordering } = options;
  if (urls.length === 0) throw new UsageError('--url URL is missing');
  const read = (option: string, value: string): string => fromEnvironment(option, value, context);
  const secretHeaders = options['secret-header'].map((header) =>
    parseHeader('--secret-header', header, read),
  );
  const headers = [
    ...options.header.map((header) => parseHeader('--header', header, read)),
    ...secretHeaders,
  ];
  const secret =
    options.secret === '-' ? await firstLine(context) : options.secret && read('--secret', options.secret);
  return {
    id,
    type,
    name,
    ...(disabled && { enabled: false }),
    sources,
    rateLimit: options['rate-limit'],
    ordering,
    settings: {
      sharedSecret: secret,
      webhooks: urls.map((url) => ({
        url,
        ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
        ...(secretHeaders.length > 0 && { secretHeaders: secretHeaders.map(([header]) => header) }),
      })),
    },
  };
}

type ReadValue = (option: string, value: string) => string;

function parseHeader(option: string, header: string, read: ReadValue): [name: string, value: string] {
  const [, name, value] = /^([^:]+?)\s*:\s*(.*)$/s.exec(header) ?? [];
  if (name === undefined || value === undefined) {
    throw new UsageError(`${option} is a name and a value, such as 'X-Team: growth'`);
  }
  return [name, read(option, value)];
}

function fromEnvironment(option: string, value: string, { env }: Pick<CommandContext, 'env'>): string {
  const [, name] = /^env:(\w+)$/.exec(value) ?? [];
  if (name === undefined) return value;
  const found = env[name];
  if (found === undefined || found === '') throw new UsageError(`${option}: the variable ${name} is not set`);
  return found;
}

async function firstLine({ input }: Pick<CommandContext, 'input'>): Promise<string> {
  const [line = ''] = (await textOf(input())).split(/\r?\n/, 1);
  if (line === '') throw new UsageError('--secret: nothing is on standard input');
  return line;
}

/** What a file holds goes to the service as it is, which checks it. */
async function readEntry(
  file: string,
  others: Readonly<Record<string, unknown>>,
  { input }: Pick<CommandContext, 'input'>,
): Promise<unknown> {
  const given = Object.entries(others).find(
    ([, value]) => value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0),
  );
  if (given) throw new UsageError(`--file does not go with --${given[0]}`);
  try {
    return parseYaml(file === '-' ? await textOf(input()) : readFileSync(file, 'utf8'));
  } catch (error) {
    throw new UsageError(`${file}: ${(error as Error).message}`);
  }
}
