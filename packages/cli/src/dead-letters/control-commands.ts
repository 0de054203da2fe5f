/** Commands for dead letters that work through the API, and continue without the command line. */
import type { Schema } from '@tailrace/api';
import { pathOf } from '../api/path.ts';
import { continuing, done, waitFor, type Columns } from '../api/show.ts';
import { exitCodes, type Outcome } from '../command.ts';
import { apiCommand, flag, listCommand, required, text, type Declared } from '../declare.ts';
import { countOf, formatCount, printable } from '../terminal/table.ts';
import { notReplayed, replayOptions } from './options.ts';

type Replay = Schema['Replay'];

const columns: Columns<Replay> = {
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

const ofReplay = { '<id>': 'the id of the replay' };
const exampleId = '5f0c6a8e-1d9b-4a0c-8f3e-2b7d9c1e4a60';

export const recoveryCommands: readonly Declared[] = [
  apiCommand({
    words: 'resend',
    summary: 'send a delivery again',
    description:
      'Send a delivery again, with the same delivery id and body, whether it was delivered or is dead. A receiver that ' +
      'ignores repeats by the delivery id ignores it, if it had accepted it before.',
    arguments: { '<delivery>': 'the id of the delivery' },
    examples: ['resend 5f0c6a8e-1d9b-5a0c-8f3e-2b7d9c1e4a60'],
    async request({ delivery }, { api }) {
      const resent = await api.send<Schema['Resent']>('POST', pathOf('deliveries', delivery, 'resend'));
      return done(
        [
          `Requested: ${resent.deliveryId} is sent to ${resent.destinationId} again.`,
          `To see its attempts: tailrace get delivery ${resent.deliveryId}`,
        ],
        resent,
      );
    },
  }),
  apiCommand({
    words: 'recover destination',
    summary: 'replay the failures of a destination since a time',
    description:
      'Replay the failures of a destination since a time: all its dead letters that were not replayed. The control ' +
      'service does it; Ctrl-C ends only the wait.',
    arguments: { '<id>': 'the id of the destination' },
    options: {
      since: required(text('<time>', 'dead letters written from this time on')),
      until: text('<time>', 'only dead letters written before this time'),
      ...replayOptions,
      wait: flag('wait until it is done'),
    },
    examples: ['recover destination crm --since 2h', 'recover destination crm --since 2h --wait'],
    async request({ id, since, until, rate, dryRun = false, wait }, { api, terminal }) {
      const order = { since, until, ratePerSecond: rate, dryRun };
      const replay = await api.send<Replay>('POST', pathOf('destinations', id, 'recover'), order);
      const look = `get replay ${replay.id}`;
      if (!wait && !dryRun) {
        const text = [`Requested as replay ${replay.id}.`, `To see the progress: tailrace ${look}`];
        return done(text, replay);
      }
      return waitFor(
        replay,
        {
          isRunning: ({ endedAt }) => endedAt === undefined,
          progressOf,
          load: () => api.get(pathOf('replays', replay.id)),
          outcomeOf,
          interrupted: (latest) => continuing('replay', look, latest),
        },
        terminal,
        terminal.interruption(),
      );
    },
  }),
  apiCommand({
    words: 'interrupt replay',
    summary: 'interrupt a replay of the control service',
    description: 'Interrupt a replay of the control service, after the records in flight.',
    arguments: ofReplay,
    examples: [`interrupt replay ${exampleId}`],
    async request({ id }, { api }) {
      const replay = await api.send<Replay>('DELETE', pathOf('replays', id));
      const hadEnded = `It had ended before: ${replay.state}.`;
      return done(replay.endedAt === undefined ? 'Interrupting.' : hadEnded, replay);
    },
  }),
  listCommand({
    words: 'get replays',
    summary: 'list the replays of the control service, newest first',
    examples: ['get replays'],
    path: 'replays',
    noun: 'replay',
    columns,
  }),
  apiCommand({
    words: 'get replay',
    summary: 'show the progress of a replay of the control service',
    arguments: ofReplay,
    examples: [`get replay ${exampleId}`],
    request: async ({ id }, { api }) => outcomeOf(await api.get(pathOf('replays', id))),
  }),
];

function outcomeOf(replay: Replay): Outcome {
  const { state, dryRun, due = 0, malformed, failure } = replay;
  const exitCode = state === 'failed' || state === 'superseded' ? exitCodes.failed : exitCodes.done;
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

function progressOf({ due, replayed }: Replay): string {
  return due === undefined
    ? 'the dead letters are being counted'
    : `${formatCount(replayed)} of ${countOf(due, 'dead letter')} replayed`;
}
