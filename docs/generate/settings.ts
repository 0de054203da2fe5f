/** docs/settings.md, generated from the settings schemas of the services, `npm start` and the command line. */
import path from 'node:path';
import { formatValue, formOf, variablesOf } from '@tailrace/service';
import type { TObject } from 'typebox';
import { checkout, settings as local } from '../../infra/local/src/settings.ts';
import { settings as cli } from '../../packages/cli/src/settings.ts';
import { settings as control } from '../../services/control/src/settings.ts';
import { settings as delivery } from '../../services/delivery/src/settings.ts';
import { settings as ingest } from '../../services/ingest/src/settings.ts';
import { settings as router } from '../../services/router/src/settings.ts';
import { table } from './table.ts';

const services = { ingest, router, delivery, control };
/** The settings of each process, by its name in the page. */
export const processes: Record<string, TObject> = { ...services, '`npm start`': local, 'Command line': cli };

const introduction = `# Settings

The settings of each process are environment variables, which it reads when it starts. This page is generated from the schemas in the code: run
\`npm run docs:settings\` after a change.

- An empty variable counts as unset.
- A duration is a whole number with a unit: \`ms\`, \`s\`, \`m\`, \`h\` or \`d\`, such as \`250ms\` or \`4h\`.
- A size is a whole number of bytes, or one with \`KB\`, \`MB\` or \`GB\`, each 1024 of the one before.
- A URL begins with \`http\` or \`https\`, a port is 0 to 65535, and other numbers are whole. Items of a list are separated by commas.
- If a setting is invalid, the process prints all problems and ends with exit code 78 (the command line: 2).
- A setting that is marked as secret can be in a file instead, which is read once, at the start: \`KAFKA_SASL_PASSWORD_FILE\` is the path of the file
  for \`KAFKA_SASL_PASSWORD\`. White space around the secret is ignored. To set both is an error, and so is a file that is empty, cannot be read or has more
  than 64 KB.
- A variable whose name is close to a known one is reported as misspelled. Other unknown variables are ignored.
`;

/** The row of each variable. */
function rowsOf(settings: TObject): string[][] {
  return variablesOf(settings).map((variable) => {
    const { env, isRequired, writeOnly, description = '' } = variable;
    const form = shortForm(formOf(variable)).replaceAll('|', '\\|');
    return [
      `\`${env}\``,
      writeOnly ? `${form} (secret)` : form,
      defaultOf(variable, isRequired),
      description,
    ];
  });
}

/** Without what the introduction explains once. */
function shortForm(form: string): string {
  return form
    .replace(/^(a duration|a size) .*? or \w+/, '$1')
    .replace(/^a whole number from /, '')
    .replace(/^a full URL with http or https$/, 'a URL')
    .replace(/^a port from 0 to 65535$/, 'a port');
}

function defaultOf(variable: Parameters<typeof formatValue>[0], isRequired: boolean): string {
  if (isRequired) return 'required';
  if (variable.default === undefined) return 'none';
  const text = formatValue(variable, variable.default);
  if (text === '') return 'none';
  return `\`${path.isAbsolute(text) ? path.relative(checkout, text) : text}\``;
}

export function settingsPage(): string {
  const header = ['variable', 'value', 'default', 'meaning'];
  const tables = Object.values(services).map((settings) => rowsOf(settings).map((row) => row.join()));
  const isShared = (row: string[]): boolean => tables.every((rows) => rows.includes(row.join()));

  const sectionOf = new Map<string, string>();
  const sections = Object.entries(processes).map(([name, settings]) => {
    const rows = rowsOf(settings).filter((row) => !isShared(row));
    const own = rows.filter((row) => !sectionOf.has(row.join()));
    const others = Map.groupBy(
      rows.filter((row) => !own.includes(row)),
      (row) => sectionOf.get(row.join()) ?? '',
    );
    for (const row of own) sectionOf.set(row.join(), name);
    const repeated = [...others].map(
      ([section, those]) => `\nAs in ${section}: ${those.map(([variable]) => variable).join(', ')}.\n`,
    );
    return `## ${name}\n\n${table(header, own)}${repeated.join('')}`;
  });
  const all = `## Every service\n\n${table(header, rowsOf(ingest).filter(isShared))}`;
  return [introduction, all, ...sections].join('\n');
}
