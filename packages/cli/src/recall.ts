/** `tailrace retry` and `tailrace drain`: what waits for a destination is tried again now, or ended. */
import { openApi, pathOf } from './api.ts';
import { defineCommand, exitCodes, type CommandContext, type ExitCode, type Outcome } from './command.ts';
import { countOf, formatCount, printable } from './table.ts';
import { pause } from './terminal.ts';

const lookEveryMs = 500;

interface Recall {
  readonly id: string;
  readonly kind: 'retry' | 'drain';
  readonly destinationId: string;
  readonly state: 'running' | 'done' | 'stopped';
  readonly count: number;
  readonly partitions: { readonly total: number; readonly ended: number };
}

const destination = {
  type: 'string',
  placeholder: 'ID',
  required: true,
  help: 'the id of the destination',
} as const;
const wait = { type: 'boolean', help: 'wait until it is done' } as const;

export const retry = defineCommand({
  name: 'retry',
  summary: 'try again now what waits for a destination',
  details: [
    'Sends the deliveries that wait for their next attempt, as fast as the receiver takes them. Each keeps its place in\n' +
      'the retry schedule. Deliveries that begin to wait later are not meant.',
    'It happens by itself when a receiver is up again; this is for when you know it earlier.',
  ],
  examples: ['retry --destination crm --wait'],
  through: 'api',
  options: { destination, wait },
  run: ({ destination: id, wait: waits }, context) => request('retry', id, waits, context),
});

export const drain = defineCommand({
  name: 'drain',
  summary: 'end what waits for a destination',
  details: [
    'The deliveries that wait for their next attempt become dead letters with the reason drained; tailrace replay brings\n' +
      'them back. The destination may be switched off, or deleted. On a terminal it asks before.',
  ],
  examples: ['drain --destination crm', 'drain --destination crm --yes --wait'],
  through: 'api',
  options: { destination, wait, yes: { type: 'boolean', help: 'do not ask' } },
  async run({ destination: id, wait: waits, yes }, context) {
    const question = `End all deliveries that wait for ${printable(id)}?`;
    if (!yes && !(await context.terminal.confirm(question))) {
      return { exitCode: exitCodes.failed, text: ['Nothing was ended.'], json: { requested: false } };
    }
    return request('drain', id, waits, context);
  },
});

export const getRecall = defineCommand({
  name: 'get recall',
  summary: 'show how far the last retry or drain of a destination is',
  details: [],
  examples: ['get recall crm'],
  through: 'api',
  options: { id: { ...destination, positional: true } },
  async run({ id }, context) {
    return outcomeOf(await openApi(context).get<Recall>(pathOf('destinations', id, 'recall')));
  },
});

async function request(
  kind: Recall['kind'],
  id: string,
  waits: boolean,
  context: CommandContext,
): Promise<Outcome> {
  const recall = await openApi(context).send<Recall>('POST', pathOf('destinations', id, kind));
  if (waits) return waitFor(recall, context);
  return {
    exitCode: exitCodes.done,
    text: [printable(`Requested for ${id}.`), printable(`How far it is: tailrace get recall ${id}`)],
    json: recall,
  };
}

async function waitFor(requested: Recall, context: CommandContext): Promise<Outcome> {
  const { terminal } = context;
  const api = openApi(context);
  const signal = terminal.interruption();
  let latest = requested;
  while (latest.state === 'running') {
    terminal.progress(progressOf(latest));
    if (!(await pause(lookEveryMs, signal))) {
      const text = [
        printable(`Interrupted; it goes on. How far it is: tailrace get recall ${latest.destinationId}`),
      ];
      return { exitCode: exitCodes.interrupted, text, json: latest };
    }
    const found = await api.get<Recall>(pathOf('destinations', requested.destinationId, 'recall'));
    // A later request has taken its place.
    latest = found.id === requested.id ? found : { ...latest, state: 'stopped' };
  }
  return outcomeOf(latest);
}

function outcomeOf(recall: Recall): Outcome {
  const exitCode: ExitCode = recall.state === 'stopped' ? exitCodes.failed : exitCodes.done;
  const { kind, count, state } = recall;
  const text = {
    running: [progressOf(recall)],
    done: [`${countOf(count, kind === 'retry' ? 'delivery' : 'dead letter')} ${wordOf(kind)}.`],
    stopped: [
      `Stopped after ${formatCount(count)}: the receiver is down, the destination is switched off, or a later request took its place.`,
    ],
  };
  return { exitCode, text: text[state], json: recall };
}

function progressOf({ kind, count, partitions }: Recall): string {
  return `${formatCount(count)} ${wordOf(kind)}; ${partitions.ended} of ${countOf(partitions.total, 'partition')} done`;
}

function wordOf(kind: Recall['kind']): string {
  return kind === 'retry' ? 'brought forward' : 'made';
}
