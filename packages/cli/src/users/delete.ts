/** `tailrace user delete`: asks the receivers to delete users. */
import { randomUUID } from 'node:crypto';
import { isTailraceError, TailraceError } from '@tailrace/errors';
import { openApi, pathOf, type Api } from '../api/client.ts';
import { exitCodes, type CommandContext, type Outcome, type Run } from '../command.ts';
import { countOf, formatCount, printable } from '../terminal/table.ts';
import { pause } from '../terminal/terminal.ts';
import { deletionLines, hasOutcomes, totals, type Deletion } from './deletions.ts';
import { distinct } from './suppressions.ts';

const pollEveryMs = 500;

interface Values {
  readonly users: readonly string[];
  readonly source?: readonly string[];
  readonly request?: string;
  readonly wait?: boolean;
  readonly yes?: boolean;
}

export const deleteUsers: Run<Values> = async (
  { users, source: sources, request: requestId = randomUUID(), wait, yes },
  context,
) => {
  const userIds = distinct(users);
  const api = openApi(context);
  const who = userIds.length === 1 ? `the user ${userIds[0] ?? ''}` : countOf(userIds.length, 'user');
  const question = `Delete ${who} of ${sources?.join(', ') ?? 'all sources'}?`;
  if (!yes && !(await context.terminal.confirm(printable(question)))) {
    return { exitCode: exitCodes.failed, text: ['Nothing was deleted.'], json: { requested: false } };
  }
  const deletion = await send(api, { requestId, userIds, ...(sources && { sources }) });
  if (wait) return waitFor(api, deletion, context);
  return {
    text: [
      `Requested for ${countOf(userIds.length, 'user')}, as ${deletion.id}.`,
      `To see the progress: tailrace get deletion ${deletion.id}`,
    ],
    json: deletion,
  };
};

async function send(
  api: Api,
  request: {
    readonly requestId: string;
    readonly userIds: readonly string[];
    readonly sources?: readonly string[];
  },
): Promise<Deletion> {
  try {
    return await api.send<Deletion>('POST', pathOf('deletions'), request);
  } catch (error) {
    if (!isTailraceError(error, 'control-unavailable')) throw error;
    // The service may have accepted it. Repeating it with the same id is safe.
    const message = `${error.message}\nUse --request ${request.requestId} to run it again.`;
    throw new TailraceError('control-unavailable', message, { cause: error });
  }
}

async function waitFor(api: Api, deletion: Deletion, { terminal }: CommandContext): Promise<Outcome> {
  const signal = terminal.interruption();
  let latest = deletion;
  while (latest.state === 'sending' || !hasOutcomes(latest) || totals(latest).waiting > 0) {
    const { delivered, dead, waiting } = totals(latest);
    terminal.progress(
      `Delivered ${formatCount(delivered)} of ${formatCount(delivered + dead + waiting)}, refused ${formatCount(dead)}`,
    );
    if (!(await pause(pollEveryMs, signal))) {
      const text = [
        `Interrupted; the deletion continues. To see the progress: tailrace get deletion ${latest.id}`,
      ];
      return { exitCode: exitCodes.interrupted, text, json: latest };
    }
    latest = await api.get<Deletion>(pathOf('deletions', deletion.id));
  }
  const { dead } = totals(latest);
  return {
    exitCode: dead > 0 ? exitCodes.failed : exitCodes.done,
    text: deletionLines(latest),
    json: latest,
  };
}
