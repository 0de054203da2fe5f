/** `tailrace tail`: attempts as they happen. */
import { isTailraceError } from '@tailrace/errors';
import type { AttemptRecord } from '@tailrace/records';
import type { ApiContext } from '../api/client.ts';
import { pathOf, type Query } from '../api/path.ts';
import type { Outcome } from '../command.ts';
import { countOf } from '../terminal/table.ts';
import { pause } from '../terminal/terminal.ts';
import { attemptLine } from './delivery-text.ts';

const reconnectAfterMs = 1_000;

/** @param values `count` is the number of attempts to show, the others are the filter */
export async function tail(
  { count = Infinity, user, ...filter }: Query & { readonly count?: number; readonly user?: string },
  context: ApiContext,
): Promise<Outcome> {
  const query = { ...filter, userId: user };
  const { api, terminal } = context;
  const signal = terminal.interruption();
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
}
