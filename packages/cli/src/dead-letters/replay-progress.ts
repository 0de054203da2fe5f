/** The progress and the result of a replay of the control service. */
import type { Schema } from '@tailrace/api';
import type { ApiContext } from '../api/client.ts';
import { pathOf } from '../api/path.ts';
import { continuing, waitFor } from '../api/show.ts';
import { exitCodes, type Outcome } from '../command.ts';
import { countOf, formatCount, printable, table } from '../terminal/table.ts';
import { notReplayed } from './options.ts';

type Replay = Schema['Replay'];
type Estimated = Pick<Schema['StartedReplay'], 'estimate' | 'oldestEventAt'>;

/** Waits until the replay has ended, and shows its progress. */
export function untilEnded(
  started: Replay & Estimated,
  { api, terminal }: Pick<ApiContext, 'api' | 'terminal'>,
): Promise<Outcome> {
  const { id, estimate, oldestEventAt } = started;
  const preview = { ...(estimate && { estimate }), ...(oldestEventAt !== undefined && { oldestEventAt }) };
  return waitFor<Replay & Estimated>(
    started,
    {
      isRunning: ({ endedAt }) => endedAt === undefined,
      progressOf,
      // Only the answer to the request has the estimate.
      load: async () => ({ ...preview, ...(await api.get<Replay>(pathOf('replays', id))) }),
      outcomeOf,
      interrupted: (latest) => continuing('replay', `get replay ${id}`, latest),
    },
    terminal,
    terminal.interruption(),
  );
}

export function outcomeOf(replay: Replay & Estimated): Outcome {
  const { state, dryRun, due = 0, malformed, unreadable = 0, expired = 0, failure } = replay;
  const exitCode = state === 'failed' || state === 'superseded' ? exitCodes.failed : exitCodes.done;
  const first =
    dryRun && state === 'done'
      ? `Dry run, nothing was replayed: ${countOf(due, nounOf(replay))} would be${inTime(replay)}.`
      : `${state.charAt(0).toUpperCase()}${state.slice(1)}: ${progressOf(replay)}.`;
  const text = [
    first,
    ...(dryRun ? rowsOf(replay) : []),
    ...(malformed > 0 ? [notReplayed(malformed)] : []),
    ...(unreadable > 0
      ? [
          `${countOf(unreadable, 'record')} cannot be read: ${
            replay.filter.topic === undefined ? '' : 'they are not as Tailrace wrote them, or '
          }control needs the schema registry (SCHEMA_REGISTRY_URL).`,
        ]
      : []),
    ...(expired > 0
      ? [
          `${countOf(expired, 'event')} left out: their deliveries have expired, so it is not known whether they were sent.`,
        ]
      : []),
    ...(replay.oldestEventAt === undefined ? [] : [`The oldest event is of ${replay.oldestEventAt}.`]),
    ...(replay.overlaps?.length
      ? [`These replays may send the same events: ${replay.overlaps.join(', ')}.`]
      : []),
    ...(failure ? [printable(failure.message)] : []),
  ];
  return { exitCode, text, json: replay };
}

function progressOf(replay: Replay & Estimated): string {
  const { due, replayed, estimate, state } = replay;
  if (due !== undefined) return `${formatCount(replayed)} of ${countOf(due, nounOf(replay))} replayed`;
  if (state === 'requested') return 'it waits for an earlier replay to the destination';
  const about = estimate ? `, about ${formatCount(estimate.events)}` : '';
  return `the ${nounOf(replay)}s are being counted${about}`;
}

function rowsOf({ eventRows = [] }: Replay): readonly string[] {
  if (eventRows.length === 0) return [];
  const rows = eventRows.map(({ day, type, event = '', events }) => [
    day,
    type,
    printable(event),
    formatCount(events),
  ]);
  return table([['DAY', 'TYPE', 'EVENT', 'EVENTS'], ...rows]);
}

/** How long it takes at its rate, and that of the destination. */
function inTime({ due = 0, ratePerSecond, expectedSeconds: seconds = due / ratePerSecond }: Replay): string {
  if (seconds < 60) return '';
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `, in ${minutes} minutes or more` : `, in ${Math.ceil(minutes / 60)} hours or more`;
}

function nounOf({ kind }: Replay): string {
  return kind === 'events' ? 'event' : 'dead letter';
}
