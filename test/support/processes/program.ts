/** A program that a test starts and that is not a service of Tailrace. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { eventually } from '@tailrace/testing';

export interface Program extends AsyncDisposable {
  /** The last lines of its log, once it has ended by itself. */
  readonly failure: string | undefined;
}

/** The kernel ends the program when this process ends in any way. */
export function startProgram(program: string, args: readonly string[]): Program {
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', program, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let last = '';
  let failure: string | undefined;
  child.stderr.on('data', (chunk: Buffer) => {
    last = (last + chunk.toString()).slice(-4_000);
  });
  const ended = once(child, 'close').then(() => {
    failure = `${path.basename(program)} ended:\n${last}`;
  });
  return {
    get failure() {
      return failure;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/**
 * Resolves once `attempt` does.
 *
 * @throws Error with the log of the program if it ends before
 */
export async function untilReady(attempt: () => Promise<unknown>, program: Program): Promise<void> {
  await eventually(
    async () => {
      if (program.failure !== undefined) throw new Error(program.failure);
      return attempt().then(
        () => 'ready',
        (error: unknown) => String(error),
      );
    },
    (answer) => answer === 'ready',
  );
}
