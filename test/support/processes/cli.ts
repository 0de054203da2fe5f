/** Runs the CLI as a shell does; its environment is `env` and a PATH with this Node. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { runCli } from '../../../packages/cli/src/run.ts';
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

/** What a command wrote to standard error, without the line of progress that it writes every ten seconds. */
export function problemsOf({ stderr }: Run): string {
  const progress =
    /^(Adding partitions to|Checking|Comparing|Delivered|Reading|Replayed|Sending|Sent|the dead letters are being counted|[\d,]+ of [\d,]+)\b.*\n/gm;
  return stderr.replace(progress, '');
}

const started = new Set<string>();
/** The process ends with the connections that the client of Kafka still tries to make; here they would keep the test alive. */
const ofKafka = ['topics', 'apply', 'config', 'dead', 'replay', 'doctor', '--around'];

/**
 * As `tailrace`, for files with many commands: the first command of each verb and those that use Kafka directly are processes. Later
 * ones of the API run in this process, without the half second of CPU time that a start takes.
 */
export async function tailraceHere(args: readonly string[], env: Environment, input = ''): Promise<Run> {
  const [verb = ''] = args;
  if (!started.has(verb) || args.some((arg) => ofKafka.includes(arg))) {
    started.add(verb);
    return tailrace(args, env, input);
  }
  const chunks: Buffer[] = [];
  let stderr = '';
  const exitCode = await runCli({
    argv: args,
    env,
    out: (line) => chunks.push(Buffer.from(`${line}\n`)),
    outBytes: (bytes) => chunks.push(bytes),
    err: (line) => {
      stderr += `${line}\n`;
    },
    input: () => Readable.from([input]),
  });
  return { exitCode, stdout: Buffer.concat(chunks).toString(), stderr };
}
