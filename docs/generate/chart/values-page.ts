/** infra/chart/VALUES.md: every value with its default, from the schema and values.yaml. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { values, type Schema } from './values.ts';

const valuesFile = path.join(import.meta.dirname, '../../../infra/chart/values.yaml');

const introduction = `# Values

All values of the [chart](README.md) with their defaults; [docs/settings.md](../../docs/settings.md) has the settings of the services. \`{a,b}.c\` stands
for \`a.c\` and \`b.c\`, and the default is in brackets. This page is generated from the schema of the values and \`values.yaml\`: run \`npm run docs\` after a change.
`;

/** Groups are opened, except maps of settings, which have a page of their own. */
function rowsOf(name: string, schema: Schema, value: unknown): string[][] {
  const { description = '' } = schema as { readonly description?: string };
  const properties = schema['properties'] as Readonly<Record<string, Schema>> | undefined;
  const isSettings = /(^|\.)settings(From)?$/.test(name);
  if (properties === undefined || isSettings) {
    const text = value === undefined ? '' : JSON.stringify(value);
    const isEmpty = ['""', '{}', '[]', ''].includes(text);
    return [[name, isEmpty ? '' : `\`${text}\``, description]];
  }
  const inner = value as Readonly<Record<string, unknown>> | undefined;
  const own = name.endsWith('.pods') ? [[name, '', description]] : undefined;
  return own ?? Object.entries(properties).flatMap(([key, of]) => rowsOf(`${name}.${key}`, of, inner?.[key]));
}

const parts = /^(?:ingest|router|delivery|control|jobs|cli)$/;

/** The segment of a name for which rows that are otherwise alike become one: a service, then the last segment. */
const variants = [
  (segments: readonly string[]) => segments.findIndex((segment) => parts.test(segment)),
  (segments: readonly string[]) => segments.length - 1,
];

function folded(rows: readonly string[][]): string[][] {
  return variants.reduce((left, variantOf) => foldedBy(left, variantOf), [...rows]);
}

function foldedBy(rows: readonly string[][], variantOf: (segments: readonly string[]) => number): string[][] {
  const named = rows.map(([name = '', ...others]) => ({ segments: name.split('.'), others }));
  const alike = Map.groupBy(named, ({ segments, others }) => {
    const at = variantOf(segments);
    return [...segments.map((segment, index) => (index === at ? '*' : segment)), ...others].join('|');
  });
  return [...alike.values()].flatMap(([first, ...more]) => {
    if (!first) return [];
    const at = variantOf(first.segments);
    const names = [first, ...more].map(({ segments }) => segments[at]);
    const name = more.length > 0 ? first.segments.with(at, `{${names.join(',')}}`) : first.segments;
    return [[name.join('.'), ...first.others]];
  });
}

export function valuesPage(): string {
  const defaults = parse(readFileSync(valuesFile, 'utf8'), { merge: true }) as Readonly<
    Record<string, unknown>
  >;
  const rows = Object.entries(values).flatMap(([name, schema]) => rowsOf(name, schema, defaults[name]));
  const items = folded(rows).map(([name = '', byDefault = '', meaning = '']) =>
    byDefault === '' ? `- \`${name}\`: ${meaning}\n` : `- \`${name}\` (${byDefault}): ${meaning}\n`,
  );
  return `${introduction}\n${items.join('')}`;
}
