/** `tailrace user delete`: tells receivers to delete users; and what became of such requests. */
import { randomUUID } from 'node:crypto';
import { isTailraceError, TailraceError } from '@tailrace/errors';
import { openApi, pathOf, type Api } from './api.ts';
import { defineCommand, exitCodes, UsageError, type CommandContext, type Outcome } from './command.ts';
import { limitOption, outcomeOfPage, type Columns } from './get.ts';
import { countOf, formatCount, printable, table } from './table.ts';
import { pause } from './terminal.ts';

const mostUsers = 1_000;
const lookEveryMs = 500;

interface SourceProgress {
  readonly sourceId: string;
  readonly destinations: readonly string[];
  readonly sent: number;
  readonly delivered: number;
  readonly dead: number;
  readonly waiting: number;
}

interface DeletionSummary {
  readonly id: string;
  /** `sending` until every source has been told. */
  readonly state: 'sending' | 'sent';
  readonly createdAt: string;
  readonly users: number;
  /** Sources that were asked for and are told nothing. */
  readonly unaffected: readonly { readonly sourceId: string; readonly reason: string }[];
}

interface Deletion extends DeletionSummary {
  readonly sources: readonly SourceProgress[];
}

export const userDelete = defineCommand({
  name: 'user delete',
  summary: 'tell the receivers to delete users',
  details: [
    'Each enabled destination of each source gets a delete notification for each user. Without --source, of all\n' +
      'sources. On a terminal it asks before.',
    'With --wait it shows how far that is, and ends once every receiver has answered for good, with exit code 1 where one\n' +
      'refused. Ctrl-C ends the waiting only: the exit code is 130, and the deletion goes on.',
    'A request that is repeated with the same --request is the same request.',
  ],
  examples: ['user delete ada', 'user delete ada grace --source web --wait', 'user delete -- -42'],
  through: 'api',
  options: {
    users: {
      type: 'list',
      positional: true,
      required: true,
      placeholder: 'USER',
      help: `the users' ids, ${formatCount(mostUsers)} at most`,
    },
    source: { type: 'list', placeholder: 'ID', help: 'only of this source' },
    request: {
      type: 'string',
      placeholder: 'ID',
      help: 'the id of the request; made up where it is left out',
    },
    wait: { type: 'boolean', help: 'wait until it is done' },
    yes: { type: 'boolean', help: 'do not ask' },
  },
  async run({ users, source: sources, request: requestId = randomUUID(), wait: waits, yes }, context) {
    const userIds = [...new Set(users)];
    if (userIds.length > mostUsers) {
      throw new UsageError(
        `${countOf(userIds.length, 'user')} are more than the ${formatCount(mostUsers)} of a request`,
      );
    }
    const api = openApi(context);
    const of = sources.length === 0 ? 'all sources' : sources.join(', ');
    const question = `Delete ${userIds.length === 1 ? `the user ${userIds[0] ?? ''}` : countOf(userIds.length, 'user')} of ${of}?`;
    if (!yes && !(await context.terminal.confirm(printable(question)))) {
      return { exitCode: exitCodes.failed, text: ['Nothing was deleted.'], json: { requested: false } };
    }
    const request = { requestId, userIds, ...(sources.length > 0 && { sources }) };
    const deletion = await ask(api, request);
    if (waits) return waitFor(api, deletion, context);
    return {
      exitCode: exitCodes.done,
      text: [
        `Requested for ${countOf(userIds.length, 'user')}, as ${deletion.id}.`,
        `How far it is: tailrace get deletion ${deletion.id}`,
      ],
      json: deletion,
    };
  },
});

async function ask(api: Api, request: { readonly requestId: string }): Promise<Deletion> {
  try {
    return await api.send<Deletion>('POST', pathOf('deletions'), request);
  } catch (error) {
    if (!isTailraceError(error, 'control-unavailable')) throw error;
    // It may have been taken. The same id makes a repetition harmless.
    const message = `${error.message}\nGive --request ${request.requestId} when you run it again.`;
    throw new TailraceError('control-unavailable', message, { cause: error });
  }
}

async function waitFor(api: Api, deletion: Deletion, { terminal }: CommandContext): Promise<Outcome> {
  const signal = terminal.interruption();
  let latest = deletion;
  while (latest.state === 'sending' || totals(latest).waiting > 0) {
    const { delivered, dead, waiting } = totals(latest);
    terminal.progress(
      `Delivered ${formatCount(delivered)} of ${formatCount(delivered + dead + waiting)}, refused ${formatCount(dead)}`,
    );
    if (!(await pause(lookEveryMs, signal))) {
      const text = [`Interrupted; it goes on. How far it is: tailrace get deletion ${latest.id}`];
      return { exitCode: exitCodes.interrupted, text, json: latest };
    }
    latest = await api.get<Deletion>(pathOf('deletions', deletion.id));
  }
  const { dead } = totals(latest);
  return {
    exitCode: dead > 0 ? exitCodes.failed : exitCodes.done,
    text: linesOf(latest),
    json: latest,
  };
}

function totals({ sources }: Deletion) {
  const sum = (of: (source: SourceProgress) => number): number =>
    sources.reduce((total, source) => total + of(source), 0);
  return {
    sent: sum(({ sent }) => sent),
    delivered: sum(({ delivered }) => delivered),
    dead: sum(({ dead }) => dead),
    waiting: sum(({ waiting }) => waiting),
  };
}

function linesOf(deletion: Deletion): string[] {
  const { delivered, dead, waiting } = totals(deletion);
  const rows = deletion.sources.map((source) => [
    source.sourceId,
    source.destinations.join(', ') || '-',
    formatCount(source.sent),
    formatCount(source.delivered),
    formatCount(source.dead),
    formatCount(source.waiting),
  ]);
  const heading = ['SOURCE', 'DESTINATIONS', 'SENT', 'DELIVERED', 'DEAD', 'WAITING'];
  return [
    ...(rows.length > 0 ? table([heading, ...rows]) : []),
    rows.length === 0
      ? 'No source has a destination to tell.'
      : `${countOf(delivered, 'notification')} delivered, ${formatCount(dead)} refused, ${formatCount(waiting)} on the way.`,
    ...deletion.unaffected.map(({ sourceId, reason }) => printable(`${sourceId} tells nobody: ${reason}.`)),
    ...(dead > 0 ? ['What was refused is a dead letter: tailrace dead list --type delete'] : []),
  ];
}

const columns: Columns<DeletionSummary> = {
  CREATED: ({ createdAt }) => createdAt,
  REQUEST: ({ id }) => id,
  USERS: ({ users }) => formatCount(users),
  STATE: ({ state }) => state,
};

export const getDeletions = defineCommand({
  name: 'get deletions',
  summary: 'list the requests to delete users',
  details: [],
  examples: ['get deletions'],
  through: 'api',
  options: limitOption,
  async run({ limit }, context) {
    return outcomeOfPage(
      await openApi(context).list<DeletionSummary>(pathOf('deletions'), {}, limit),
      'request',
      columns,
    );
  },
});

export const getDeletion = defineCommand({
  name: 'get deletion',
  summary: 'show how far a request to delete users is',
  details: [],
  examples: ['get deletion 5f0c6a8e-1d9b-4a0c-8f3e-2b7d9c1e4a60'],
  through: 'api',
  options: {
    id: {
      type: 'string',
      positional: true,
      required: true,
      placeholder: 'ID',
      help: 'the id of the request',
    },
  },
  async run({ id }, context) {
    const deletion = await openApi(context).get<Deletion>(pathOf('deletions', id));
    return { exitCode: exitCodes.done, text: linesOf(deletion), json: deletion };
  },
});
