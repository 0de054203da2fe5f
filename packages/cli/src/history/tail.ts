/** `tailrace tail`: attempts as they happen. */
import { isTailraceError } from '@tailrace/errors';
import type { AttemptRecord } from '@tailrace/records';
import { openApi, pathOf } from '../api/client.ts';
import type { Run } from '../command.ts';
import { countOf } from '../terminal/table.ts';
import { pause } from '../terminal/terminal.ts';
import { attemptLine } from './attempt-line.ts';

const reconnectAfterMs = 1_000;

interface Values {
  readonly destination?: string;
  readonly source?: string;
  readonly type?: string;
  readonly outcome?: string;
  readonly event?: string;
  readonly user?: string;
  /** The number of attempts to show. */
  readonly count?: number;
}

export const tail: Run<Values> = async ({ count = Infinity, user, ...filter }, context) => {
  const query = { ...filter, userId: user };
  const signal = context.terminal.interruption();
  const api = openApi(context);
  const path = pathOf('attempts', 'stream');
  let left = count;
  const connection = { opened: false };
  const onOpen = (): void => {
    connection.opened = true;
  };
  do {
    if (connection.opened) context.warn('Connection lost, reconnecting.');
    try {
      const attempts = api.follow<AttemptRecord | { readonly missed: number }>(path, query, signal, onOpen);
      for await (const attempt of attempts) {
        if ('missed' in attempt) {
          context.warn(`${countOf(attempt.missed, 'attempt')} not shown: this client reads too slowly.`);
          continue;
        }
        context.show([attemptLine(attempt)], attempt);
        if (--left === 0) break;
      }
    } catch (error) {
      if (!connection.opened || !isTailraceError(error, 'control-unavailable')) throw error;
    }
  } while (left > 0 && (await pause(reconnectAfterMs, signal)));
  return { text: [], json: undefined };
};
