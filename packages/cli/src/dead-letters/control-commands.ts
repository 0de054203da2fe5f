/** Commands for dead letters that work through the API, and continue without the command line. */
import type { Schema } from '@tailrace/api';
import { pathOf } from '../api/path.ts';
import { done, type Columns } from '../api/show.ts';
import { apiCommand, flag, listCommand, required, text, type Declared } from '../declare.ts';
import { formatCount } from '../terminal/table.ts';
import { replayOptions } from './options.ts';
import { outcomeOf, untilEnded } from './replay-progress.ts';

type Replay = Schema['Replay'];

const columns: Columns<Replay> = {
  STARTED: ({ startedAt }) => startedAt,
  REPLAY: ({ id }) => id,
  KIND: ({ kind }) => kind,
  STATE: ({ state, dryRun }) => (dryRun ? `${state} (dry run)` : state),
  DUE: ({ due }) => (due === undefined ? '-' : formatCount(due)),
  REPLAYED: ({ replayed }) => formatCount(replayed),
  FILTER: ({ filter }) =>
    Object.entries(filter)
      .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
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
      if (wait || dryRun) return untilEnded(replay, { api, terminal });
      const { id: replayId } = replay;
      const text = [
        `Requested as replay ${replayId}.`,
        `To see the progress: tailrace get replay ${replayId}`,
      ];
      return done(text, replay);
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
  ...(['pause', 'resume'] as const).map((verb) =>
    apiCommand({
      words: `${verb} replay`,
      summary:
        verb === 'pause'
          ? 'let a replay of the control service wait'
          : 'continue a paused replay of the control service',
      arguments: ofReplay,
      examples: [`${verb} replay ${exampleId}`],
      async request({ id }, { api }) {
        const replay = await api.send<Replay>('POST', pathOf('replays', id, verb));
        const text = verb === 'pause' ? 'Pausing.' : 'Continuing.';
        return done(replay.endedAt === undefined ? text : `It had ended before: ${replay.state}.`, replay);
      },
    }),
  ),
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
