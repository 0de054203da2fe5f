/** The user of a command: progress, confirmation and Ctrl-C. */
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';

export interface Terminal {
  /** Replaces the progress line; an empty text removes it. Without a terminal, writes a line every ten seconds. */
  progress(text: string): void;
  /** Whether there is a user who can answer. */
  readonly isAttended: boolean;
  /** Resolves with whether the answer is yes. Without a terminal it is yes. */
  confirm(question: string): Promise<boolean>;
  /** Returns a signal that Ctrl-C or SIGTERM aborts. A second Ctrl-C ends the process. */
  interruption(): AbortSignal;
}

/** No terminal: no output, every answer is yes, and no interruption. */
export const unattended: Terminal = {
  progress: () => undefined,
  isAttended: false,
  confirm: () => Promise.resolve(true),
  interruption: () => new AbortController().signal,
};

const redrawEveryMs = 100;
const lineEveryMs = 10_000;
const eraseLine = '\r\u001b[K';

export function processTerminal(): Terminal {
  return {
    progress: progressOn(process.stderr),
    isAttended: isTerminal(),
    async confirm(question) {
      if (!isTerminal()) return true;
      const lines = createInterface({ input: process.stdin, output: process.stderr });
      // readline consumes Ctrl-C while it reads.
      lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
      const answer = await new Promise<string>((resolve) => {
        lines.once('close', () => resolve('no'));
        lines.question(`${question} [y/N] `, resolve);
      });
      lines.close();
      return /^y(es)?$/i.test(answer.trim());
    },
    interruption() {
      const interruption = new AbortController();
      for (const signal of ['SIGINT', 'SIGTERM'] as const) {
        process.once(signal, () => interruption.abort());
      }
      return interruption.signal;
    },
  };
}

function isTerminal(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Resolves after `forMs` with true, or with false as soon as `signal` is aborted. */
export async function pause(forMs: number, signal: AbortSignal): Promise<boolean> {
  await wait(forMs, undefined, { signal }).catch(() => undefined);
  return !signal.aborted;
}

/** `stream` is standard error, to keep progress apart from results. */
export function progressOn(
  stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>,
  now: () => number = () => performance.now(),
): Terminal['progress'] {
  let shownAt = stream.isTTY ? -Infinity : now();
  let visible = false;
  return (text) => {
    if (text === '') {
      if (visible) stream.write(eraseLine);
      visible = false;
      return;
    }
    if (now() - shownAt < (stream.isTTY ? redrawEveryMs : lineEveryMs)) return;
    shownAt = now();
    visible = stream.isTTY;
    stream.write(stream.isTTY ? `${eraseLine}${text}` : `${text}\n`);
  };
}
