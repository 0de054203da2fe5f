/** A request to delete users, and its progress. */
import type { Schema } from '@tailrace/api';
import { isTailraceError, TailraceError } from '@tailrace/errors';
import type { ApiContext } from '../api/client.ts';
import { pathOf } from '../api/path.ts';
import { continuing, done, waitFor, type Work } from '../api/show.ts';
import { exitCodes, type Outcome } from '../command.ts';
import { countOf, formatCount, printable, table } from '../terminal/table.ts';

export type Deletion = Schema['Deletion'];

interface DeletionRequest {
  readonly requestId: string;
  readonly userIds: readonly string[];
  readonly sources?: readonly string[];
}

export async function requestDeletion(
  request: DeletionRequest,
  wait: boolean | undefined,
  { api, terminal }: ApiContext,
): Promise<Outcome> {
  const deletion = await api.send<Deletion>('POST', pathOf('deletions'), request).catch((error: unknown) => {
    if (!isTailraceError(error, 'control-unavailable')) throw error;
    // The service may have accepted it. Repeating it with the same id is safe.
    const message = `${error.message}\nUse --request ${request.requestId} to run it again.`;
    throw new TailraceError('control-unavailable', message, { cause: error });
  });
  const look = `get deletion ${deletion.id}`;
  if (!wait) {
    const requested = `Requested for ${countOf(request.userIds.length, 'user')}, as ${deletion.id}.`;
    return done([requested, `To see the progress: tailrace ${look}`], deletion);
  }
  const work: Work<Deletion> = {
    isRunning: (latest) => latest.state === 'sending' || !hasOutcomes(latest) || totals(latest).waiting > 0,
    progressOf(latest) {
      const { delivered, dead, waiting } = totals(latest);
      const all = delivered + dead + waiting;
      return `Delivered ${formatCount(delivered)} of ${formatCount(all)}, refused ${formatCount(dead)}`;
    },
    load: () => api.get(pathOf('deletions', deletion.id)),
    outcomeOf: (ended) => ({
      exitCode: totals(ended).dead > 0 ? exitCodes.failed : exitCodes.done,
      text: deletionLines(ended),
      json: ended,
    }),
    interrupted: (latest) => continuing('deletion', look, latest),
  };
  return waitFor(deletion, work, terminal, terminal.interruption());
}

function totals({ sources }: Deletion) {
  const sum = (name: 'delivered' | 'dead' | 'waiting'): number =>
    sources.reduce((total, source) => total + (source[name] ?? 0), 0);
  return { delivered: sum('delivered'), dead: sum('dead'), waiting: sum('waiting') };
}

/** Whether the outcomes of the notifications are known. */
function hasOutcomes({ sources }: Deletion): boolean {
  return sources.every(({ waiting }) => waiting !== undefined);
}

export function deletionLines(deletion: Deletion): string[] {
  const { delivered, dead, waiting } = totals(deletion);
  const rows = deletion.sources.flatMap(({ sourceId, destinations, sent, byDestination }) =>
    destinations.map((destination) => {
      const { delivered, dead, waiting } =
        byDestination?.find(({ destinationId }) => destinationId === destination) ?? {};
      const outcomes = [delivered, dead, waiting].map(countOrDash);
      return [sourceId, destination, formatCount(sent), ...outcomes];
    }),
  );
  const heading = ['SOURCE', 'DESTINATION', 'SENT', 'DELIVERED', 'DEAD', 'WAITING'];
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
