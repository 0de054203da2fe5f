/** infra/chart/VALUES.md: every value with its default, from the schema and values.yaml. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { table } from '../table.ts';
import { values, type Schema } from './values.ts';

const valuesFile = path.join(import.meta.dirname, '../../../infra/chart/values.yaml');

const introduction = `# Values

All values of the [chart](README.md) with their defaults. This page is generated from the schema of the values and \`values.yaml\`: run
\`npm run docs\` after a change. The settings of each service are in [docs/settings.md](../../docs/settings.md).
`;

/** Groups are opened, except maps of settings, which have a page of their own. */
function rowsOf(name: string, schema: Schema, value: unknown): string[][] {
  const { description = '' } = schema as { readonly description?: string };
  const properties = schema['properties'] as Readonly<Record<string, Schema>> | undefined;
  const isSettings = /(^|\.)settings(From)?$/.test(name);
  if (properties === undefined || isSettings) {
    const text = value === undefined ? '' : JSON.stringify(value).replaceAll('|', '\\|');
    const isEmpty = ['""', '{}', '[]', ''].includes(text);
    return [[`\`${name}\``, isEmpty ? '' : `\`${text}\``, description]];
  }
  const inner = value as Readonly<Record<string, unknown>> | undefined;
  const own = name.endsWith('.pods') ? [[`\`${name}\``, '', description]] : undefined;
  return own ?? Object.entries(properties).flatMap(([key, of]) => rowsOf(`${name}.${key}`, of, inner?.[key]));
}

export function valuesPage(): string {
  const defaults = parse(readFileSync(valuesFile, 'utf8'), { merge: true }) as Readonly<
    Record<string, unknown>
  >;
  const rows = Object.entries(values)
    .filter(([name]) => name !== 'global')
    .flatMap(([name, schema]) => rowsOf(name, schema, defaults[name]));
  return [introduction, table(['value', 'default', 'meaning'], rows)].join('\n');
}
