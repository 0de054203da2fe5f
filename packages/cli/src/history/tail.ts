/** `tailrace tail`: attempts as they happen. `tailrace calls`: the calls of a source as they arrive. */
import { isTailraceError } from '@tailrace/errors';
import type { AttemptRecord } from '@tailrace/records';
import type { ApiContext } from '../api/client.ts';
import { pathOf, type Query } from '../api/path.ts';
import type { Outcome } from '../command.ts';
import { countOf } from '../terminal/table.ts';
import { pause } from '../terminal/terminal.ts';
import { callLine, type LiveCall } from './call-text.ts';
import { attemptLine } from './delivery-text.ts';

const reconnectAfterMs = 1_000;
/** Calls whose outcome may still change. */
const maxKnown = 1_000;

/** `count` is the number of lines to show, the others are the filter. */
type Values = Query & { readonly count?: number; readonly user?: string };

export function tail({ count, user, ...filter }: Values, context: ApiContext): Promise<Outcome> {
  const open: Open<AttemptRecord> = (...on) =>
    context.api.follow(pathOf('attempts', 'stream'), { ...filter, userId: user }, ...on);
  return follow(open, attemptLine, { count, noun: 'attempt' }, context);
}

export function calls(
  { source, count, user, ...filter }: Values & { readonly source: string },
  context: ApiContext,
): Promise<Outcome> {
  const known = new Map<string, LiveCall>();
  const path = pathOf('sources', source, 'calls', 'stream');
  const open: Open<LiveCall> = (...on) => context.api.follow(path, { ...filter, userId: user }, ...on);
  const textOf = (line: LiveCall): string => {
    const call = { ...known.get(line.id), ...line };
    const { call: _content, ...rest } = call;
    known.set(line.id, rest);
    const [oldest = ''] = known.keys();
    if (known.size > maxKnown) known.delete(oldest);
    return callLine(call);
  };
  return follow(open, textOf, { count, noun: 'call' }, context);
}

interface Missed {
  readonly missed: number;
}

function isMissed(line: object): line is Missed {
  return 'missed' in line;
}

type Open<Line> = (signal: AbortSignal, onOpen: () => void) => AsyncIterable<Line | Missed>;

async function follow<Line extends object>(
  open: Open<Line>,
  textOf: (line: Line) => string,
  { count = Infinity, noun }: { readonly count: number | undefined; readonly noun: string },
  context: ApiContext,
): Promise<Outcome> {
  const signal = context.terminal.interruption();
  let left = count;
  const connection = { opened: false };
  const onOpen = (): void => {
    connection.opened = true;
  };
  do {
    if (connection.opened) context.warn('Connection lost, reconnecting.');
    try {
      for await (const line of open(signal, onOpen)) {
        if (isMissed(line)) {
          context.warn(`${countOf(line.missed, noun)} not shown: there are too many for this client.`);
          continue;
        }
        context.show([textOf(line)], line);
        if (--left === 0) break;
      }
    } catch (error) {
      if (!connection.opened || !isTailraceError(error, 'control-unavailable')) throw error;
    }
  } while (left > 0 && (await pause(reconnectAfterMs, signal)));
  return { text: [], json: undefined };
}
