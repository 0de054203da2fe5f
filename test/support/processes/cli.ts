/** Runs the CLI as a shell does; its environment is `env` and a PATH with this Node. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { Environment } from './process.ts';

export interface Run {
  /** Null if a signal ended it. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCommand {
  readonly ended: Promise<Run>;
  kill(signal: NodeJS.Signals): void;
}

/** The executable of `npx tailrace`. */
const executable = path.join(import.meta.dirname, '../../../node_modules/.bin/tailrace');

export function startTailrace(args: readonly string[], env: Environment, input = ''): RunningCommand {
  const child = spawn(executable, args, {
    env: { PATH: `${path.dirname(process.execPath)}:/usr/bin:/bin`, ...env },
    stdio: 'pipe',
  });
  child.stdin.end(input);
  const ended = Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]).then(([stdout, stderr, [exitCode]]) => ({ exitCode, stdout, stderr }));
  return { ended, kill: (signal) => child.kill(signal) };
}

/** Runs a command, and resolves when it has ended. */
export function tailrace(args: readonly string[], env: Environment, input = ''): Promise<Run> {
  return startTailrace(args, env, input).ended;
}
