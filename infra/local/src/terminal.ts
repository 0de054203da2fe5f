/**
 * What `npm start` says: one line per happening, with the name of whom it is about in front. Progress is
 * overwritten in place on a terminal; into a pipe go plain lines. Colours come from `styleText`, which
 * leaves them out where there is no terminal or NO_COLOR is set.
 */
import { styleText } from 'node:util';

export interface Terminal {
  /** A line about `name`; further lines of `text` are indented to match. */
  say(name: string, text: string, style?: 'good' | 'bad'): void;
  /** A line that the next one replaces, where that is possible; `milestone` lines also go into a pipe. */
  progress(name: string, text: string, options?: { readonly milestone: boolean }): void;
  /** A line of its own, without a name. */
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

/** A service's log line, as much of it as this side needs. */
export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The log line in `text`; undefined where it is something else, such as the words of a crash. */
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

/** `warn: the message (code=kafka-unavailable destinationId=crm)`, without what only a file should hold. */
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
