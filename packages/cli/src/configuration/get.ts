/** `tailrace get` for sources, destinations and the catalog. */
import type { Destination, Source } from '@tailrace/config';
import { openApi, pathOf } from '../api/client.ts';
import { showEntry, showPage, type Columns } from '../api/show.ts';
import type { Run } from '../command.ts';
import { formatCount } from '../terminal/table.ts';

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

export function listEntries(kind: 'source' | 'destination'): Run<{ readonly limit: number }> {
  return async ({ limit }, context) => {
    const api = openApi(context);
    return kind === 'source'
      ? showPage(await api.list<Source>(pathOf('sources'), {}, limit), kind, sourceColumns)
      : showPage(await api.list<Destination>(pathOf('destinations'), {}, limit), kind, destinationColumns);
  };
}

export function getEntry(kind: 'source' | 'destination'): Run<{ readonly id: string }> {
  return async ({ id }, context) => showEntry(await openApi(context).get(pathOf(`${kind}s`, id)));
}

export const getCatalog: Run<{ readonly type?: string }> = async ({ type }, context) => {
  const api = openApi(context);
  if (type !== undefined) return showEntry(await api.get(pathOf('catalog', type)));
  return showPage(await api.list<CatalogEntry>(pathOf('catalog'), {}, 1_000), 'type', catalogColumns);
};
