/** `tailrace get` for sources, destinations and the catalog: what there is. */
import type { Destination, Source } from '@tailrace/config';
import { stringify } from 'yaml';
import { openApi, pathOf, type Page } from './api.ts';
import { defineCommand, exitCodes, type Command, type OptionSpecs, type Outcome } from './command.ts';
import { countOf, formatCount, printable, table } from './table.ts';

/** How a list is shown: a heading and a cell for each column. */
export type Columns<T> = Readonly<Record<string, (item: T) => string>>;

export const limitOption = {
  limit: { type: 'integer', placeholder: 'N', min: 1, max: 100_000, default: 50, help: 'list at most N' },
} as const satisfies OptionSpecs;

/** `thing` is one of them. */
export function outcomeOfPage<T>({ items, more }: Page<T>, thing: string, columns: Columns<T>): Outcome {
  const rows = items.map((item) => Object.values(columns).map((cell) => cell(item)));
  const count = countOf(items.length, thing);
  return {
    exitCode: exitCodes.done,
    text: [
      ...(rows.length > 0 ? table([Object.keys(columns), ...rows]) : []),
      more ? `The first ${count}; --limit shows more.` : `${count}.`,
    ],
    json: { items, more },
  };
}

/** As it stands in a file for `tailrace apply`. */
export function outcomeOfEntry(entry: unknown): Outcome {
  const lines = stringify(entry, { lineWidth: 0 }).trimEnd().split('\n');
  return { exitCode: exitCodes.done, text: lines.map(printable), json: entry };
}

interface CatalogEntry {
  readonly type: string;
  readonly description: string;
  readonly supportedCalls: readonly string[];
}

const onOff = ({ enabled }: { readonly enabled: boolean }): string => (enabled ? 'on' : 'off');
const dashed = (text: string | undefined): string => (text === undefined || text === '' ? '-' : text);

const sourceColumns: Columns<Source> = {
  ID: ({ id }) => id,
  NAME: ({ name }) => dashed(name),
  SWITCHED: onOff,
  'WRITE KEYS': ({ writeKeys }) => writeKeys.join(', '),
  BLOCKED: ({ schema }) => formatCount(schema?.track?.blocked.length ?? 0),
};

const destinationColumns: Columns<Destination> = {
  ID: ({ id }) => id,
  NAME: ({ name }) => dashed(name),
  TYPE: ({ type }) => type,
  SWITCHED: onOff,
  SOURCES: ({ sources }) => dashed(sources.join(', ')),
  URLS: ({ settings }) => settings.webhooks.map(({ url }) => url).join(', '),
};

const catalogColumns: Columns<CatalogEntry> = {
  TYPE: ({ type }) => type,
  CALLS: ({ supportedCalls }) => supportedCalls.join(', '),
  DESCRIPTION: ({ description }) => description,
};

interface Kind<T> {
  readonly plural: string;
  readonly singular: string;
  /** One that there may be. */
  readonly example: string;
  readonly columns: Columns<T>;
}

/** `get sources` and `get source ID`. */
function reading<T>({ plural, singular, example, columns }: Kind<T>): Command[] {
  return [
    defineCommand({
      name: `get ${plural}`,
      summary: `list ${plural}`,
      details: [],
      examples: [`get ${plural}`, `get ${plural} --output json`],
      through: 'api',
      options: limitOption,
      async run({ limit }, context) {
        const page = await openApi(context).list<T>(pathOf(plural), {}, limit);
        return outcomeOfPage(page, singular, columns);
      },
    }),
    defineCommand({
      name: `get ${singular}`,
      summary: `show a ${singular}`,
      details: ['In YAML, as in a file for tailrace apply. What is secret is not shown.'],
      examples: [`get ${singular} ${example}`],
      through: 'api',
      options: {
        id: { type: 'string', positional: true, required: true, placeholder: 'ID', help: 'its id' },
      },
      run: async ({ id }, context) => outcomeOfEntry(await openApi(context).get(pathOf(plural, id))),
    }),
  ];
}

const getCatalog = defineCommand({
  name: 'get catalog',
  summary: 'list the types of destinations, or show one',
  details: ['Of one type, also the JSON Schema of its settings.'],
  examples: ['get catalog', 'get catalog Webhooks'],
  through: 'api',
  options: { type: { type: 'string', positional: true, placeholder: 'TYPE', help: 'the type to show' } },
  async run({ type }, context) {
    const api = openApi(context);
    if (type !== undefined) return outcomeOfEntry(await api.get(pathOf('catalog', type)));
    return outcomeOfPage(await api.list<CatalogEntry>(pathOf('catalog'), {}, 1_000), 'type', catalogColumns);
  },
});

export const getEntries: readonly Command[] = [
  getCatalog,
  ...reading({ plural: 'sources', singular: 'source', example: 'web', columns: sourceColumns }),
  ...reading({
    plural: 'destinations',
    singular: 'destination',
    example: 'crm',
    columns: destinationColumns,
  }),
];
