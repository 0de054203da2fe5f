/** Runs commands of `tailrace`: in the process of the test, or as a shell does. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { MemoryCluster } from '@tailrace/kafka/testing';
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

/** Starts a command as a process, whose environment is `env` and a PATH with this Node: for signals and what the process itself does. */
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

/** Runs a command in the process of the test. With `cluster`, it uses this cluster in place of the brokers of `env`. */
export async function tailrace(
  args: readonly string[],
  env: Environment,
  input = '',
  cluster?: MemoryCluster,
): Promise<Run> {
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
    connect: cluster && ((_settings, log, observer) => cluster.connect(log, observer)),
  });
  return { exitCode, stdout: Buffer.concat(chunks).toString(), stderr };
}

/** What a command wrote to standard error, without the line of progress that it writes every ten seconds. */
export function problemsOf({ stderr }: Run): string {
  const progress =
    /^(Adding partitions to|Checking|Comparing|Delivered|Reading|Replayed|Sending|Sent|the dead letters are being counted|[\d,]+ of [\d,]+)\b.*\n/gm;
  return stderr.replace(progress, '');
}
