/** `tailrace audience list` and `tailrace get audiences`. */
import { openApi, pathOf } from '../api/client.ts';
import { listBySource, showPage, type Columns } from '../api/show.ts';
import type { Run } from '../command.ts';
import { formatCount } from '../terminal/table.ts';

export interface AudienceSync {
  readonly id: string;
  readonly state: 'running' | 'done' | 'failed' | 'interrupted';
  /** Users in the upload. */
  readonly members: number;
  /** Unset until the upload is compared with the members before. */
  readonly added?: number;
  readonly removed?: number;
  readonly total?: number;
  readonly sent: number;
  readonly problem?: { readonly message: string };
}

export interface Audience {
  readonly source: string;
  readonly name: string;
  readonly members: number;
  readonly sync: AudienceSync;
}

const columns: Columns<Audience> = {
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
  const page = await listBySource<Audience>(api, source, (id) =>
    api.list(pathOf('sources', id, 'audiences'), {}, limit),
  );
  return showPage(page, 'audience', columns);
};
