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

const services = { ingest, router, delivery, control };
/** The settings of each process, by its name in the page. */
const processes: Record<string, TObject> = { ...services, '`npm start`': local, 'Command line': cli };

interface Item {
  readonly name: string;
  readonly line: string;
}

const introduction = `# Settings

The settings of each process are environment variables, which it reads when it starts. This page is generated from the schemas in the code: run
\`npm run docs:settings\` after a change. The value of each variable is in brackets, with its default if there is one.

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

/** The name of each variable, and its line. */
function itemsOf(settings: TObject): Item[] {
  return variablesOf(settings).map((variable) => {
    const { env, isRequired, writeOnly, description = '' } = variable;
    const form = shortForm(formOf(variable));
    const value = [form, writeOnly ? 'secret' : '', defaultOf(variable, isRequired)];
    const inBrackets = value.filter((part) => part !== '').join('; ');
    return { name: `\`${env}\``, line: `- \`${env}\` (${inBrackets}): ${description}\n` };
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
  if (variable.default === undefined) return '';
  const text = formatValue(variable, variable.default);
  if (text === '') return '';
  return `\`${path.isAbsolute(text) ? path.relative(checkout, text) : text}\``;
}

const listOf = (items: readonly Item[]): string => items.map(({ line }) => line).join('');

export function settingsPage(): string {
  const lines = Object.values(services).map((settings) => new Set(itemsOf(settings).map(({ line }) => line)));
  const isShared = ({ line }: Item): boolean => lines.every((of) => of.has(line));

  const sectionOf = new Map<string, string>();
  const sections = Object.entries(processes).map(([section, settings]) => {
    const items = itemsOf(settings).filter((item) => !isShared(item));
    const own = items.filter(({ line }) => !sectionOf.has(line));
    const others = Map.groupBy(
      items.filter((item) => !own.includes(item)),
      ({ line }) => sectionOf.get(line) ?? '',
    );
    for (const { line } of own) sectionOf.set(line, section);
    const repeated = [...others].map(
      ([other, those]) => `\nAs in ${other}: ${those.map(({ name }) => name).join(', ')}.\n`,
    );
    return `## ${section}\n\n${listOf(own)}${repeated.join('')}`;
  });
  const all = `## Every service\n\n${listOf(itemsOf(ingest).filter(isShared))}`;
  return [introduction, all, ...sections].join('\n');
}
