/** `tailrace retry` and `tailrace drain`: attempt the pending retries of a destination now, or end them. */
import type { Schema } from '@tailrace/api';
import { openApi, pathOf } from '../api/client.ts';
import { exitCodes, type CommandContext, type ExitCode, type Outcome, type Run } from '../command.ts';
import { countOf, formatCount, printable } from '../terminal/table.ts';
import { pause } from '../terminal/terminal.ts';

const pollEveryMs = 500;

interface Values {
  readonly destination: string;
  readonly wait?: boolean;
}

export const retry: Run<Values> = ({ destination, wait }, context) =>
  request('retry', destination, wait === true, context);

export const drain: Run<Values & { readonly yes?: boolean }> = async (
  { destination, wait, yes },
  context,
) => {
  const question = `Turn all pending retries of ${printable(destination)} into dead letters?`;
  if (!yes && !(await context.terminal.confirm(question))) {
    return { exitCode: exitCodes.failed, text: ['Nothing was drained.'], json: { requested: false } };
  }
  return request('drain', destination, wait === true, context);
};

export const getRecall: Run<{ readonly id: string }> = async ({ id }, context) =>
  outcomeOf(await openApi(context).get<Schema['Recall']>(pathOf('destinations', id, 'recall')));

async function request(
  kind: Schema['Recall']['kind'],
  id: string,
  waits: boolean,
  context: CommandContext,
): Promise<Outcome> {
  const recall = await openApi(context).send<Schema['Recall']>('POST', pathOf('destinations', id, kind));
  if (waits) return waitFor(recall, context);
  return {
    text: [printable(`Requested for ${id}.`), printable(`To see the progress: tailrace get recall ${id}`)],
    json: recall,
  };
}

async function waitFor(requested: Schema['Recall'], context: CommandContext): Promise<Outcome> {
  const { terminal } = context;
  const api = openApi(context);
  const signal = terminal.interruption();
  let latest = requested;
  while (latest.state === 'running') {
    terminal.progress(progressOf(latest));
    if (!(await pause(pollEveryMs, signal))) {
      const text = [
        printable(
          `Interrupted; the ${latest.kind} continues. To see the progress: tailrace get recall ${latest.destinationId}`,
        ),
      ];
      return { exitCode: exitCodes.interrupted, text, json: latest };
    }
    const found = await api.get<Schema['Recall']>(pathOf('destinations', requested.destinationId, 'recall'));
    // Another id: a later request replaced this one.
    latest = found.id === requested.id ? found : { ...latest, state: 'stopped' };
  }
  return outcomeOf(latest);
}

function outcomeOf(recall: Schema['Recall']): Outcome {
  const exitCode: ExitCode = recall.state === 'stopped' ? exitCodes.failed : exitCodes.done;
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

function progressOf(recall: Schema['Recall']): string {
  const { ended, total } = recall.partitions;
  return `${resultOf(recall)}; ${ended} of ${countOf(total, 'partition')} done`;
}

function resultOf({ kind, count }: Schema['Recall']): string {
  return kind === 'retry'
    ? `${countOf(count, 'delivery')} brought forward`
    : `${countOf(count, 'dead letter')} made`;
}
