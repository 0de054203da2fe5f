/** `tailrace create destination`. */
import { text as textOf } from 'node:stream/consumers';
import type { Destination } from '@tailrace/config';
import { openApi } from '../api/client.ts';
import { exitCodes, UsageError, type CommandContext, type Run } from '../command.ts';
import { printable } from '../terminal/table.ts';
import { readEntry } from './entry-file.ts';

interface Values {
  readonly id?: string;
  readonly name?: string;
  readonly disabled?: boolean;
  readonly type?: string;
  readonly url?: readonly string[];
  readonly header?: readonly string[];
  readonly secretHeader?: readonly string[];
  readonly secret?: string;
  readonly source?: readonly string[];
  readonly rateLimit?: number;
  readonly ordering?: string;
  /** Replaces all of the above. */
  readonly file?: string;
}

export const createDestination: Run<Values> = async (values, context) => {
  const entry =
    values.file === undefined ? await entryOf(values, context) : await readEntry(values.file, context);
  const created = await openApi(context).send<Destination>('POST', '/v1/destinations', entry);
  const sources = created.sources.length === 0 ? 'no source yet' : created.sources.join(', ');
  return {
    exitCode: exitCodes.done,
    text: [
      printable(`The destination ${created.id} is created, and switched ${created.enabled ? 'on' : 'off'}.`),
      printable(`It gets the events of ${sources}.`),
    ],
    json: created,
  };
};

async function entryOf(values: Values, context: CommandContext) {
  const { id, name, disabled, type = 'Webhooks', url: urls, source: sources = [], ordering } = values;
  if (!urls) throw new UsageError("required option '--url <url>' not specified");
  const secretHeaders = (values.secretHeader ?? []).map((text) =>
    parseHeader('--secret-header', text, context),
  );
  const headers = [
    ...(values.header ?? []).map((text) => parseHeader('--header', text, context)),
    ...secretHeaders,
  ];
  return {
    id,
    type,
    name,
    ...(disabled && { enabled: false }),
    sources,
    rateLimit: values.rateLimit,
    ordering,
    settings: {
      sharedSecret: await readSecret(values.secret, context),
      webhooks: urls.map((url) => ({
        url,
        ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
        ...(secretHeaders.length > 0 && { secretHeaders: secretHeaders.map(([header]) => header) }),
      })),
    },
  };
}

/** `text` is `Name: value`; the value may be `env:VARIABLE`. */
function parseHeader(option: string, text: string, context: CommandContext): [name: string, value: string] {
  const [, name, value] = /^([^:]+?)\s*:\s*(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) {
    throw new UsageError(`${option} must be a name and a value, such as 'X-Team: growth'`);
  }
  return [name, resolveVariable(option, value, context)];
}

function resolveVariable(option: string, value: string, { env }: CommandContext): string {
  const [, name] = /^env:(\w+)$/.exec(value) ?? [];
  if (name === undefined) return value;
  const found = env[name];
  if (found === undefined || found === '') {
    throw new UsageError(`${option}: the environment variable ${name} is not set`);
  }
  return found;
}

async function readSecret(secret: string | undefined, context: CommandContext): Promise<string | undefined> {
  if (secret === undefined) return undefined;
  if (secret !== '-') return resolveVariable('--secret', secret, context);
  const [line = ''] = (await textOf(context.input())).split(/\r?\n/, 1);
  if (line === '') throw new UsageError('--secret: standard input is empty');
  return line;
}
