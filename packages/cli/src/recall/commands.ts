/** Commands that attempt the pending retries of a destination now, or end them. */
import type { Schema } from '@tailrace/api';
import type { ApiContext } from '../api/client.ts';
import { pathOf } from '../api/path.ts';
import { continuing, done, waitFor } from '../api/show.ts';
import { exitCodes, type Outcome } from '../command.ts';
import { apiCommand, flag, required, text, type Declared } from '../declare.ts';
import { countOf, formatCount } from '../terminal/table.ts';

type Recall = Schema['Recall'];

const options = {
  destination: required(text('<id>', 'the id of the destination')),
  wait: flag('wait until it is done'),
};

export const recallCommands: readonly Declared[] = [
  apiCommand({
    words: 'retry',
    summary: 'attempt the pending retries of a destination now',
    description:
      'Attempt the pending retries of a destination now, as fast as the receiver accepts them. Each delivery keeps ' +
      'its position in the retry schedule. Deliveries that fail later are not included.\n\n' +
      'This happens automatically when a receiver recovers; use it if you know earlier.',
    options,
    examples: ['retry --destination crm --wait'],
    request: ({ destination, wait }, context) => recall('retry', destination, wait, context),
  }),
  apiCommand({
    words: 'drain',
    summary: 'turn the pending retries of a destination into dead letters',
    description:
      'Turn the pending retries of a destination into dead letters with the reason "drained". "tailrace replay" ' +
      'publishes them again. The destination may be disabled or deleted. Asks for confirmation on a terminal.',
    options,
    examples: ['drain --destination crm', 'drain --destination crm --yes --wait'],
    confirm: {
      question: ({ destination }) => `Turn all pending retries of ${destination} into dead letters?`,
      refused: { text: ['Nothing was drained.'], json: { requested: false } },
    },
    request: ({ destination, wait }, context) => recall('drain', destination, wait, context),
  }),
  apiCommand({
    words: 'get recall',
    summary: 'show the progress of the last retry or drain of a destination',
    description: 'Show the progress of the last "tailrace retry" or "tailrace drain" of a destination.',
    arguments: { '<id>': 'the id of the destination' },
    examples: ['get recall crm'],
    request: async ({ id }, { api }) => outcomeOf(await api.get(pathOf('destinations', id, 'recall'))),
  }),
];

async function recall(
  kind: Recall['kind'],
  id: string,
  wait: boolean | undefined,
  { api, terminal }: ApiContext,
): Promise<Outcome> {
  const requested = await api.send<Recall>('POST', pathOf('destinations', id, kind));
  const look = `get recall ${id}`;
  if (!wait) return done([`Requested for ${id}.`, `To see the progress: tailrace ${look}`], requested);
  return waitFor<Recall>(
    requested,
    {
      isRunning: ({ state }) => state === 'running',
      progressOf,
      async load(latest) {
        const found = await api.get<Recall>(pathOf('destinations', id, 'recall'));
        // Another id: a later request replaced this one.
        return found.id === requested.id ? found : { ...latest, state: 'stopped' };
      },
      outcomeOf,
      interrupted: (latest) => continuing(kind, look, latest),
    },
    terminal,
    terminal.interruption(),
  );
}

function outcomeOf(recall: Recall): Outcome {
  const exitCode = recall.state === 'stopped' ? exitCodes.failed : exitCodes.done;
  const { count, state } = recall;
  const text = {
    running: [progressOf(recall)],
    done: [`${resultOf(recall)}.`],
    stopped: [
      `Stopped after ${formatCount(count)}: the receiver is down, the destination is disabled, or a later request replaced this one.`,
    ],
  };
  return { exitCode, text: text[state], json: recall };
}

function progressOf(recall: Recall): string {
  const { ended, total } = recall.partitions;
  return `${resultOf(recall)}; ${ended} of ${countOf(total, 'partition')} done`;
}

function resultOf({ kind, count }: Recall): string {
  return kind === 'retry'
    ? `${countOf(count, 'delivery')} brought forward`
    : `${countOf(count, 'dead letter')} made`;
}
