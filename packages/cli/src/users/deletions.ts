/** Requests to delete users, and their progress. */
import type { Schema } from '@tailrace/api';
import { openApi, pathOf } from '../api/client.ts';
import { showPage, type Columns } from '../api/show.ts';
import type { Run } from '../command.ts';
import { countOf, formatCount, printable, table } from '../terminal/table.ts';

export type Deletion = Schema['Deletion'];

const columns: Columns<Schema['DeletionSummary']> = {
  CREATED: ({ createdAt }) => createdAt,
  REQUEST: ({ id }) => id,
  USERS: ({ users }) => formatCount(users),
  STATE: ({ state, liftedAt }) => (liftedAt === undefined ? state : 'lifted'),
};

export const listDeletions: Run<{ readonly limit: number }> = async ({ limit }, context) => {
  const page = await openApi(context).list<Schema['DeletionSummary']>(pathOf('deletions'), {}, limit);
  return showPage(page, 'request', columns);
};

export const getDeletion: Run<{ readonly id: string }> = async ({ id }, context) => {
  const deletion = await openApi(context).get<Deletion>(pathOf('deletions', id));
  return { text: deletionLines(deletion), json: deletion };
};

export function totals({ sources }: Deletion) {
  const sum = (of: (source: Deletion['sources'][number]) => number | undefined): number =>
    sources.reduce((total, source) => total + (of(source) ?? 0), 0);
  return {
    sent: sum(({ sent }) => sent),
    delivered: sum(({ delivered }) => delivered),
    dead: sum(({ dead }) => dead),
    waiting: sum(({ waiting }) => waiting),
  };
}

/** Whether the outcomes of the notifications are known. */
export function hasOutcomes({ sources }: Deletion): boolean {
  return sources.every(({ waiting }) => waiting !== undefined);
}

export const undelete: Run<{ readonly request: string }> = async ({ request }, context) => {
  const deletion = await openApi(context).send<Deletion>('POST', pathOf('deletions', request, 'lift'));
  const text = [`Lifted the deletion of ${countOf(deletion.users, 'user')}.`];
  return { text, json: deletion };
};

export function deletionLines(deletion: Deletion): string[] {
  const { delivered, dead, waiting } = totals(deletion);
  const rows = deletion.sources.map((source) => [
    source.sourceId,
    source.destinations.join(', ') || '-',
    formatCount(source.sent),
    countOrDash(source.delivered),
    countOrDash(source.dead),
    countOrDash(source.waiting),
  ]);
  const heading = ['SOURCE', 'DESTINATIONS', 'SENT', 'DELIVERED', 'DEAD', 'WAITING'];
  return [
    ...(rows.length > 0 ? table([heading, ...rows]) : []),
    rows.length === 0
      ? 'No source has an enabled destination.'
      : hasOutcomes(deletion)
        ? `${countOf(delivered, 'notification')} delivered, ${formatCount(dead)} refused, ${formatCount(waiting)} pending.`
        : 'What became of the notifications is not known while the history of the service is unavailable.',
    ...(deletion.liftedAt === undefined ? [] : [`Lifted at ${deletion.liftedAt}.`]),
    ...deletion.unaffected.map(({ sourceId, reason }) =>
      printable(`${sourceId} sends no notifications: ${reason}.`),
    ),
    ...(dead > 0 ? ['Refused notifications are dead letters: tailrace dead list --type delete'] : []),
  ];
}

function countOrDash(count: number | undefined): string {
  return count === undefined ? '-' : formatCount(count);
}
