/** `tailrace audience list` and `tailrace get audiences`. */
import type { Schema } from '@tailrace/api';
import { openApi, pathOf } from '../api/client.ts';
import { listBySource, showPage, type Columns } from '../api/show.ts';
import type { Run } from '../command.ts';
import { formatCount } from '../terminal/table.ts';

const columns: Columns<Schema['Audience'] & { readonly source: string }> = {
  SOURCE: ({ source }) => source,
  NAME: ({ name }) => name,
  MEMBERS: ({ members }) => formatCount(members),
  'LAST SYNC': ({ sync }) => sync.state,
  JOINED: ({ sync }) => formatCount(sync.added ?? 0),
  LEFT: ({ sync }) => formatCount(sync.removed ?? 0),
};

export const listAudiences: Run<{ readonly source?: string; readonly limit: number }> = async (
  { source, limit },
  context,
) => {
  const api = openApi(context);
  const page = await listBySource<Schema['Audience']>(api, source, (id) =>
    api.list(pathOf('sources', id, 'audiences'), {}, limit),
  );
  return showPage(page, 'audience', columns);
};
