/** `tailrace resend`, `tailrace recover destination`, and the replays of the control service. */
import type { Schema } from '@tailrace/api';
import { openApi, pathOf } from '../api/client.ts';
import { showPage, type Columns } from '../api/show.ts';
import { exitCodes, type CommandContext, type ExitCode, type Outcome, type Run } from '../command.ts';
import { countOf, formatCount, printable } from '../terminal/table.ts';
import { pause } from '../terminal/terminal.ts';
import { periodOf, type Period } from '../terminal/times.ts';
import { notReplayed } from './list.ts';

const pollEveryMs = 500;

const columns: Columns<Schema['Replay']> = {
  STARTED: ({ startedAt }) => startedAt,
  REPLAY: ({ id }) => id,
  STATE: ({ state, dryRun }) => (dryRun ? `${state} (dry run)` : state),
  DUE: ({ due }) => (due === undefined ? '-' : formatCount(due)),
  REPLAYED: ({ replayed }) => formatCount(replayed),
  FILTER: ({ filter }) =>
    Object.entries(filter)
      .map(([name, value]) => `${name}=${value}`)
      .join(' ') || 'all',
};

export const resend: Run<{ readonly delivery: string }> = async ({ delivery }, context) => {
  const resent = await openApi(context).send<Schema['Resent']>(
    'POST',
    pathOf('deliveries', delivery, 'resend'),
  );
  return {
    text: [
      printable(`Requested: ${resent.deliveryId} is sent to ${resent.destinationId} again.`),
      printable(`To see its attempts: tailrace get delivery ${resent.deliveryId}`),
    ],
    json: resent,
  };
};

interface Recovery extends Period {
  readonly id: string;
  readonly rate: number;
  readonly dryRun?: boolean;
  readonly wait?: boolean;
}

export const recoverDestination: Run<Recovery> = async (
  { id, since, until, rate, dryRun = false, wait = false },
  context,
) => {
  const order = { ...periodOf({ since, until }), ratePerSecond: rate, dryRun };
  const replay = await openApi(context).send<Schema['Replay']>(
    'POST',
    pathOf('destinations', id, 'recover'),
    order,
  );
  if (wait || dryRun) return waitFor(replay, context);
  return {
    text: [`Requested as replay ${replay.id}.`, `To see the progress: tailrace get replay ${replay.id}`],
    json: replay,
  };
};

export const listReplays: Run<{ readonly limit: number }> = async ({ limit }, context) =>
  showPage(await openApi(context).list<Schema['Replay']>(pathOf('replays'), {}, limit), 'replay', columns);

export const getReplay: Run<{ readonly id: string }> = async ({ id }, context) =>
  outcomeOf(await openApi(context).get<Schema['Replay']>(pathOf('replays', id)));

export const interruptReplay: Run<{ readonly id: string }> = async ({ id }, context) => {
  const replay = await openApi(context).send<Schema['Replay']>('DELETE', pathOf('replays', id));
  return {
    text: [replay.endedAt === undefined ? 'Interrupting.' : `It had ended before: ${replay.state}.`],
    json: replay,
  };
};

async function waitFor(started: Schema['Replay'], context: CommandContext): Promise<Outcome> {
  const { terminal } = context;
  const api = openApi(context);
  const signal = terminal.interruption();
  let replay = started;
  while (replay.endedAt === undefined) {
    terminal.progress(progressOf(replay));
    if (!(await pause(pollEveryMs, signal))) {
      const text = [
        `Interrupted; the replay continues. To see the progress: tailrace get replay ${replay.id}`,
      ];
      return { exitCode: exitCodes.interrupted, text, json: replay };
    }
    replay = await api.get<Schema['Replay']>(pathOf('replays', replay.id));
  }
  return outcomeOf(replay);
}

function outcomeOf(replay: Schema['Replay']): Outcome {
  const { state, dryRun, due = 0, malformed, failure } = replay;
  const exitCode: ExitCode = state === 'failed' || state === 'superseded' ? exitCodes.failed : exitCodes.done;
  const first =
    dryRun && state === 'done'
      ? `Dry run, nothing was replayed: ${countOf(due, 'dead letter')} would be.`
      : `${state.charAt(0).toUpperCase()}${state.slice(1)}: ${progressOf(replay)}.`;
  const text = [
    first,
    ...(malformed > 0 ? [notReplayed(malformed)] : []),
    ...(failure ? [printable(failure.message)] : []),
  ];
  return { exitCode, text, json: replay };
}

function progressOf({ due, replayed }: Schema['Replay']): string {
  return due === undefined
    ? 'the dead letters are being counted'
    : `${formatCount(replayed)} of ${countOf(due, 'dead letter')} replayed`;
}
