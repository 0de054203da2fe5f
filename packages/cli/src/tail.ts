/** `tailrace tail`: attempts as they happen. */
import { isTailraceError } from '@tailrace/errors';
import { eventTypes } from '@tailrace/events';
import type { AttemptRecord } from '@tailrace/topics';
import { openApi, pathOf } from './api.ts';
import { attemptLine } from './attempt-line.ts';
import { defineCommand, exitCodes } from './command.ts';
import { countOf } from './table.ts';
import { pause } from './terminal.ts';

const reconnectAfterMs = 1_000;

export const tail = defineCommand({
  name: 'tail',
  summary: 'show attempts as they happen',
  details: [
    'A line for each attempt, from now on, until Ctrl-C, which is the way to end it: the exit code is 0. In colour on a\n' +
      'terminal, unless NO_COLOR is set. With --output json each line is a JSON object.',
    'Where the connection is lost it connects anew, and says so: what was attempted meanwhile is not shown.',
  ],
  examples: ['tail', 'tail --destination crm --outcome dead', 'tail --count 1 --output json'],
  through: 'api',
  options: {
    destination: { type: 'string', placeholder: 'ID', help: 'only attempts at this destination' },
    source: { type: 'string', placeholder: 'ID', help: 'only events of this source' },
    type: { type: 'string', placeholder: 'TYPE', choices: eventTypes, help: 'only this type of call' },
    outcome: {
      type: 'string',
      placeholder: 'OUTCOME',
      choices: ['delivered', 'retry', 'dead'],
      help: 'only attempts that ended like this',
    },
    event: { type: 'string', placeholder: 'EVENT', help: 'only this track event' },
    user: { type: 'string', placeholder: 'USER', help: 'only events of this user' },
    count: { type: 'integer', placeholder: 'N', min: 1, max: 1_000_000, help: 'end after N attempts' },
  },
  async run({ count = Infinity, destination, source, type, event, user, outcome }, context) {
    const query = { destination, source, type, event, userId: user, outcome };
    const signal = context.terminal.interruption();
    const api = openApi(context);
    const path = pathOf('attempts', 'stream');
    let left = count;
    const connection = { opened: false };
    const onOpen = (): void => {
      connection.opened = true;
    };
    do {
      if (connection.opened) context.warn('The connection ended; connecting anew.');
      try {
        const attempts = api.follow<AttemptRecord | { readonly missed: number }>(path, query, signal, onOpen);
        for await (const attempt of attempts) {
          if ('missed' in attempt) {
            context.warn(
              `${countOf(attempt.missed, 'attempt')} not shown: they came faster than this is read.`,
            );
            continue;
          }
          context.show([attemptLine(attempt)], attempt);
          if (--left === 0) break;
        }
      } catch (error) {
        if (!connection.opened || !isTailraceError(error, 'control-unavailable')) throw error;
      }
    } while (left > 0 && (await pause(reconnectAfterMs, signal)));
    return { exitCode: exitCodes.done, text: [], json: undefined };
  },
});
