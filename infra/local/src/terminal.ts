/**
 * The terminal output of `npm start`: one line for each event, which begins with the name of the component. On a
 * terminal, progress is overwritten in place; a pipe gets plain lines. `styleText` omits colours without a terminal
 * or with NO_COLOR.
 */
import { styleText } from 'node:util';

export interface Terminal {
  /** Prints a line about `name`. Further lines of `text` are indented. */
  say(name: string, text: string, style?: 'good' | 'bad'): void;
  /** Prints a line that the next one replaces on a terminal. `milestone` lines also go to a pipe. */
  progress(name: string, text: string, options?: { readonly milestone: boolean }): void;
  /** Prints a line without a name. */
  print(text: string): void;
}

const nameWidth = 9;

export function createTerminal(stream: NodeJS.WriteStream): Terminal {
  const eraseLine = '\r\u001b[K';
  let unfinished = false;
  const write = (text: string): void => {
    stream.write(`${unfinished ? eraseLine : ''}${text}\n`);
    unfinished = false;
  };
  const labelled = (name: string, text: string): string =>
    `${styleText('bold', name.padEnd(nameWidth), { stream })} ${text.replaceAll('\n', `\n${' '.repeat(nameWidth + 1)}`)}`;

  return {
    say(name, text, style) {
      const colour = style === 'good' ? 'green' : 'red';
      write(labelled(name, style === undefined ? text : styleText(colour, text, { stream })));
    },
    progress(name, text, { milestone } = { milestone: true }) {
      if (!stream.isTTY) {
        if (milestone) write(labelled(name, text));
        return;
      }
      stream.write(`${unfinished ? eraseLine : ''}${labelled(name, text)}`);
      unfinished = true;
    },
    print: write,
  };
}

/** The fields of a log line that are used here. */
export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The log line in `text`. Undefined for other output, such as the message of a crash. */
export function parseLogLine(text: string): LogLine | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const { level, time, msg, ...fields } = JSON.parse(text) as Record<string, unknown>;
    if (typeof level !== 'string' || time === undefined) return undefined;
    return { level, msg: typeof msg === 'string' ? msg : '', fields };
  } catch {
    return undefined;
  }
}

export function isWorthShowing({ level }: LogLine): boolean {
  return ['warn', 'error', 'fatal'].includes(level);
}

/**
 * Such as `warn: the message (code=kafka-unavailable destinationId=crm)`, without fields that only the file should
 * have.
 */
export function shortForm({ level, msg, fields }: LogLine): string {
  const cause = (fields['err'] as { message?: unknown } | undefined)?.message;
  const details = Object.entries(fields)
    .filter(([name, value]) => name !== 'service' && ['string', 'number', 'boolean'].includes(typeof value))
    .map(([name, value]) => `${name}=${String(value)}`);
  const sentence = [msg, typeof cause === 'string' && cause !== msg ? cause : '']
    .filter((part) => part !== '')
    .join(': ');
  return `${level}: ${sentence}${details.length > 0 ? ` (${details.join(' ')})` : ''}`;
}
