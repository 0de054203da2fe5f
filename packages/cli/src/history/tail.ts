/** `tailrace tail`: attempts as they happen. `tailrace calls`: the calls of a source as they arrive. Both follow a stream, as `listen` does. */
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
/** Errors of an instance that starts or stops. */
const passing: ReadonlySet<string> = new Set(['control-unavailable', 'kafka-unavailable', 'shutting-down']);
/** Calls whose outcome may still change. */
const maxKnown = 1_000;

/** `count` is the number of lines to show, the others are the filter. */
type Values = Query & { readonly count?: number; readonly user?: string };

export function tail({ count, user, ...filter }: Values, context: ApiContext): Promise<Outcome> {
  const open: Open<AttemptRecord> = (...on) =>
    context.api.follow(pathOf('attempts', 'stream'), { ...filter, userId: user }, ...on);
  const signal = context.terminal.interruption();
  return follow(open, shown(attemptLine, context), { count, noun: 'attempt', signal }, context);
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
  const signal = context.terminal.interruption();
  return follow(open, shown(textOf, context), { count, noun: 'call', signal }, context);
}

interface Missed {
  readonly missed: number;
}

function isMissed(line: object): line is Missed {
  return 'missed' in line;
}

export type Open<Line> = (signal: AbortSignal, onOpen: () => void) => AsyncIterable<Line | Missed>;

/** Shows a line at once. */
function shown<Line>(textOf: (line: Line) => string, { show }: Pick<ApiContext, 'show'>) {
  return (line: Line): void => {
    show([textOf(line)], line);
  };
}

interface Following {
  /** The number of lines after which it ends. */
  readonly count?: number | undefined;
  /** What a line is, such as `attempt`. */
  readonly noun: string;
  /** What is not done with the lines that are missed. */
  readonly missed?: string;
  readonly signal: AbortSignal;
}

/** Takes the lines of a stream until Ctrl-C, and opens it again where the connection is lost. The next line is read when the last one is taken. */
export async function follow<Line extends object>(
  open: Open<Line>,
  take: (line: Line) => void | Promise<void>,
  { count = Infinity, noun, missed = 'shown', signal }: Following,
  { warn }: Pick<ApiContext, 'warn'>,
): Promise<Outcome> {
  let left = count;
  const connection: { state: 'new' | 'open' | 'lost' } = { state: 'new' };
  const onOpen = (): void => {
    if (connection.state === 'lost') warn('Connected again.');
    connection.state = 'open';
  };
  do {
    if (connection.state === 'open') {
      warn('Connection lost, reconnecting.');
      connection.state = 'lost';
    }
    try {
      for await (const line of open(signal, onOpen)) {
        if (isMissed(line)) {
          warn(`${countOf(line.missed, noun)} not ${missed}: there are too many for this client.`);
          continue;
        }
        if (signal.aborted) break;
        await take(line);
        if (--left === 0) break;
      }
    } catch (error) {
      if (connection.state === 'new' || !isTailraceError(error) || !passing.has(error.code)) throw error;
    }
  } while (left > 0 && (await pause(reconnectAfterMs, signal)));
  return { text: [], json: undefined };
}
