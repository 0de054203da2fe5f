/** Runs the command line `tailrace` once. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { TailraceError } from '@tailrace/errors';
import { checkout } from './settings.ts';

const script = join(checkout, 'packages', 'cli', 'src', 'main.ts');

export interface CommandOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** Called with each line of standard error: warnings, and what the command waits for. */
  readonly onMessage: (line: string) => void;
}

/** Returns the standard output. Where the exit code is not 0, throws `local-start-failed` with all output. */
export async function tailrace(args: readonly string[], options: CommandOptions): Promise<string> {
  // A separate process group, so that Ctrl-C reaches only this process, which forwards it.
  const child = spawn(process.execPath, [script, ...args], {
    env: { ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const abort = (): void => {
    child.kill('SIGTERM');
  };
  options.signal.addEventListener('abort', abort);
  let output = '';
  const messages: string[] = [];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  createInterface(child.stderr).on('line', (line) => {
    messages.push(line);
    options.onMessage(line);
  });
  const [code, signalName] = (await once(child, 'close')) as [number | null, string | null];
  options.signal.removeEventListener('abort', abort);
  options.signal.throwIfAborted();
  if (code !== 0) {
    const how = signalName ?? `exit code ${code ?? 0}`;
    throw new TailraceError(
      'local-start-failed',
      `\`tailrace ${args.join(' ')}\` ended with ${how}:\n${[...messages, output].join('\n').trimEnd()}`,
    );
  }
  return output;
}
