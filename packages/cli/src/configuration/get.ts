/** `tailrace get` for sources, destinations and the catalog. */
import type { Schema } from '@tailrace/api';
import type { Destination, Source } from '@tailrace/config';
import { openApi, pathOf } from '../api/client.ts';
import { showPage, showValue, type Columns } from '../api/show.ts';
import type { Run } from '../command.ts';
import { formatCount } from '../terminal/table.ts';
import { fileOf } from './entries-file.ts';

const onOff = ({ enabled }: { readonly enabled: boolean }): string => (enabled ? 'on' : 'off');
const delivering = ({ enabled, paused }: Destination): string =>
  enabled && paused ? 'paused' : onOff({ enabled });
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
  SWITCHED: delivering,
  SOURCES: ({ sources }) => dashed(sources.join(', ')),
  URLS: ({ settings }) => settings.webhooks.map(({ url }) => url).join(', '),
};

const catalogColumns: Columns<Schema['CatalogEntry']> = {
  TYPE: ({ type }) => type,
  CALLS: ({ supportedCalls }) => supportedCalls.join(', '),
  'PAST TIMESTAMPS': ({ acceptsHistoricalTimestamps }) => (acceptsHistoricalTimestamps ? 'yes' : 'no'),
  DESCRIPTION: ({ description }) => description,
};

export function listEntries(kind: 'source' | 'destination'): Run<{ readonly limit: number }> {
  return async ({ limit }, context) => {
    const api = openApi(context);
    const list = `${kind}s` as const;
    const page = await api.list<Source & Destination>(pathOf(list), {}, limit);
    const incomplete = page.more
      ? [`Only the first ${page.items.length} ${list}; --limit shows more. Do not apply it with --prune.`]
      : [];
    return {
      ...(kind === 'source'
        ? showPage<Source>(page, kind, sourceColumns)
        : showPage<Destination>(page, kind, destinationColumns)),
      // A file does not name the built-in source.
      yaml: fileOf(
        { [list]: page.items.filter(({ id }) => id !== 'tailrace' || kind !== 'source') },
        incomplete,
      ),
    };
  };
}

export function getEntry(kind: 'source' | 'destination'): Run<{ readonly id: string }> {
  return async ({ id }, context) => {
    const entry = await openApi(context).get<Source & Destination>(pathOf(`${kind}s`, id));
    const lines = fileOf({ [`${kind}s`]: [entry] });
    return { text: lines, yaml: lines, json: entry };
  };
}

export const getCatalog: Run<{ readonly type?: string }> = async ({ type }, context) => {
  const api = openApi(context);
  if (type !== undefined) return showValue(await api.get(pathOf('catalog', type)));
  return showPage(
    await api.list<Schema['CatalogEntry']>(pathOf('catalog'), {}, 1_000),
    'type',
    catalogColumns,
  );
};
