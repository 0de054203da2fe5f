/** Runs a program to its end. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** For programs in Go that run briefly: their garbage collector takes a fifth of the processor time by default. */
export const rarelyCollecting = { GOGC: '400' };

export interface RunOptions {
  readonly cwd?: string;
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The standard input; empty by default. */
  readonly input?: string;
}

/** The output of a program that ended with code 0. */
export interface Ended {
  readonly out: string;
  readonly err: string;
}

/**
 * Runs `program` to its end.
 *
 * @throws Error with the last lines of the output, if the program is missing or fails
 */
export async function runToEnd(
  program: string,
  args: readonly string[],
  { cwd, env, input = '' }: RunOptions = {},
): Promise<Ended> {
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: 'pipe' });
  // A program may end without reading its input.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const missing = once(child, 'error').then(([error]) => {
    throw new Error(`${program} could not be started: ${(error as Error).message}`);
  });
  const closed = once(child, 'close') as Promise<[number | null]>;
  const ended = Promise.all([text(child.stdout), text(child.stderr), closed]);
  const [out, err, [code]] = await Promise.race([ended, missing]);
  if (code !== 0) {
    const lines = `${out}\n${err}`.trim().split('\n').slice(-20).join('\n');
    throw new Error(`${program} ${args.join(' ')} ended with ${String(code)}:\n${lines}`);
  }
  return { out, err };
}

/** The standard output of `runToEnd`. */
export async function run(program: string, args: readonly string[], options?: RunOptions): Promise<string> {
  const { out } = await runToEnd(program, args, options);
  return out;
}
