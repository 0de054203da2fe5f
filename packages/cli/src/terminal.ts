/** Who runs the command: shown how far it is, asked before what cannot be undone, and able to interrupt it. */
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';

export interface Terminal {
  /** Replaces the line shown before; an empty one takes it away. Into a pipe or a log goes a line now and then. */
  progress(text: string): void;
  /** Whether the answer is yes; also where nobody is there to be asked. */
  confirm(question: string): Promise<boolean>;
  /** Aborted by Ctrl-C or SIGTERM from now on; a second one ends the process. */
  interruption(): AbortSignal;
}

export const nobody: Terminal = {
  progress: () => undefined,
  confirm: () => Promise.resolve(true),
  interruption: () => new AbortController().signal,
};

const redrawEveryMs = 100;
const lineEveryMs = 10_000;
const eraseLine = '\r\u001b[K';

export function ofProcess(): Terminal {
  return {
    progress: progressOn(process.stderr),
    async confirm(question) {
      if (!process.stdin.isTTY || !process.stderr.isTTY) return true;
      const lines = createInterface({ input: process.stdin, output: process.stderr });
      // While it reads, the terminal leaves Ctrl-C to the program.
      lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
      const answer = await new Promise<string>((resolve) => {
        lines.once('close', () => {
          resolve('no');
        });
        lines.question(`${question} [y/N] `, resolve);
      });
      lines.close();
      return /^y(es)?$/i.test(answer.trim());
    },
    interruption() {
      const interruption = new AbortController();
      for (const signal of ['SIGINT', 'SIGTERM'] as const) {
        process.once(signal, () => {
          interruption.abort();
        });
      }
      return interruption.signal;
    },
  };
}

/** Waits, and resolves with whether it could: false where it was interrupted. */
export async function pause(forMs: number, signal: AbortSignal): Promise<boolean> {
  await wait(forMs, undefined, { signal }).catch(() => undefined);
  return !signal.aborted;
}

/** On standard error, so that it never mixes with a result. */
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
