/** `tailrace get decisions`: the events that destinations did not get. */
import type { Schema } from '@tailrace/api';
import { openApi, pathOf } from '../api/client.ts';
import { showPage, type Columns } from '../api/show.ts';
import type { Run } from '../command.ts';
import { periodOf, type Period } from '../terminal/times.ts';

const columns: Columns<Schema['FilteredEvent']> = {
  DECIDED: ({ decidedAt }) => decidedAt,
  REASON: ({ reason }) => reason,
  RULE: ({ rule }) => rule?.text ?? '-',
  DESTINATION: ({ destinationId }) => destinationId ?? '-',
  SOURCE: ({ sourceId }) => sourceId,
  TYPE: ({ type }) => type,
  EVENT: ({ event }) => event ?? '-',
  USER: ({ userKey }) => userKey,
  'EVENT ID': ({ eventId }) => eventId,
};

interface Filter extends Period {
  readonly reason?: string;
  readonly destination?: string;
  readonly source?: string;
  readonly limit: number;
}

export const listDecisions: Run<Filter> = async ({ limit, since, until, ...filter }, context) => {
  const query = { ...filter, ...periodOf({ since, until }) };
  const page = await openApi(context).list<Schema['FilteredEvent']>(pathOf('decisions'), query, limit);
  return showPage(page, 'filtered event', columns);
};
