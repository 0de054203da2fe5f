/** `tailrace get events` and `tailrace get usage`: counts of what sources have sent. */
import type { Schema } from '@tailrace/api';
import type { ApiContext } from '../api/client.ts';
import { pathOf } from '../api/path.ts';
import { listBySource, showPage, type Columns } from '../api/show.ts';
import type { Outcome } from '../command.ts';
import { countOf, formatCount, printable } from '../terminal/table.ts';

type OfSource<Name extends keyof Schema> = Schema[Name] & { readonly source: string };
/** Calls whose names the service does not list. */
type Other = NonNullable<Schema['ListSourceEventsAnswer']['other']>;

const eventColumns: Columns<OfSource<'SourceEvent'>> = {
  SOURCE: ({ source }) => source,
  EVENT: ({ event }) => event,
  COUNT: ({ count }) => formatCount(count),
  FILTERED: ({ filtered }) => formatCount(filtered),
  'FIRST SEEN': ({ firstSeenAt }) => firstSeenAt ?? '-',
  'LAST SEEN': ({ lastSeenAt }) => lastSeenAt ?? '-',
  BLOCKED: ({ blocked }) => (blocked ? 'yes' : 'no'),
};

export async function sentEvents(
  { source, limit }: { readonly source?: string; readonly limit: number },
  { api }: ApiContext,
): Promise<Outcome> {
  const other: ({ readonly source: string } & Other)[] = [];
  const page = await listBySource<Schema['SourceEvent']>(api, source, async (id) => {
    const found = await api.list<Schema['SourceEvent']>(pathOf('sources', id, 'events'), {}, limit);
    const rest = found.fields?.['other'] as Other | undefined;
    if (rest) other.push({ source: id, ...rest });
    return found;
  });
  const { text, ...shown } = showPage(page, 'event', eventColumns);
  const lines = other.map(
    ({ source, count, filtered }) =>
      `${source}: ${countOf(count, 'more call')}, ${formatCount(filtered)} filtered, with names that are not listed ` +
      '(over 200 characters, or after the first 500 of a day).',
  );
  return { ...shown, text: [...text, ...lines.map(printable)], json: { ...page, other } };
}

const usageColumns: Columns<OfSource<'UsageDay'>> = {
  SOURCE: ({ source }) => source,
  DAY: ({ day }) => day,
  CALLS: ({ calls }) => formatCount(calls),
  FILTERED: ({ filtered }) => formatCount(filtered),
  'BY TYPE': ({ byType }) =>
    Object.entries(byType)
      .map(([type, count]) => `${type} ${formatCount(count)}`)
      .join(', '),
};

export async function usage(
  { source, ...period }: { readonly source?: string; readonly since?: string; readonly until?: string },
  { api }: ApiContext,
): Promise<Outcome> {
  const page = await listBySource<Schema['UsageDay']>(api, source, async (id) => {
    const { items } = await api.get<Schema['GetSourceUsageAnswer']>(pathOf('sources', id, 'usage'), period);
    return { items, more: false };
  });
  return showPage(page, 'day', usageColumns);
}
