/** Commands of Java under keeper.sh, which ends them when this process is gone. A keeper has its own process group. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Environment } from './broker/node.ts';

const script = join(import.meta.dirname, '..', 'kafka', 'keeper.sh');
const stopTimeoutMs = 30_000;

/** JVM options that reduce the cost of starting, for processes that run briefly or do little. */
export const withoutOptimiser = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];

export interface KeptCommand {
  readonly env: Environment;
  /** The arguments of `java`. */
  readonly args: readonly string[];
  /** The working directory. */
  readonly cwd?: string;
  /** Gets the output of the command. */
  readonly logFile: string;
  /** The directory that is removed when this process is gone. */
  readonly remove?: string | undefined;
}

/** Starts a command, and resolves with its keeper, which ends when the command has ended. */
export async function spawnKept({
  env,
  args,
  cwd,
  logFile,
  remove = '',
}: KeptCommand): Promise<ChildProcess> {
  const log = await open(logFile, 'a');
  try {
    const keeper = spawn('sh', [script, remove, javaCommand(env), ...args], {
      cwd,
      env: { ...env },
      detached: true,
      stdio: ['pipe', log.fd, log.fd],
    });
    keeper.stdin?.on('error', () => undefined);
    await once(keeper, 'spawn');
    // This process can end without stopping the command. Then the keeper stops it.
    keeper.unref();
    (keeper.stdin as Socket).unref();
    return keeper;
  } finally {
    await log.close();
  }
}

/** Sends a signal to the command, and resolves when the keeper has ended. */
export async function endKept(keeper: ChildProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  if (hasEnded(keeper)) return;
  keeper.ref();
  const ended = once(keeper, 'exit');
  // A line on the keeper's standard input is the name of a signal for the command.
  keeper.stdin?.write(`${signal.slice('SIG'.length)}\n`);
  const timer = setTimeout(killGroup, stopTimeoutMs, keeper);
  await ended;
  clearTimeout(timer);
}

/** The process id of the keeper's JVM. Its other child is the shell that watches for signals. */
export async function childOf(keeper: ChildProcess): Promise<number> {
  const { stdout } = await promisify(execFile)('pgrep', ['-P', String(keeper.pid ?? 0), 'java']);
  return Number(stdout.trim());
}

export function javaCommand(env: Environment): string {
  const home = env['JAVA_HOME'];
  return home === undefined || home === '' ? 'java' : join(home, 'bin', 'java');
}

export function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Kills a keeper and its JVM with SIGKILL. The JVM is left alone where its keeper was killed before. */
export function killGroup(keeper: ChildProcess): void {
  try {
    process.kill(-(keeper.pid ?? 0), 'SIGKILL');
  } catch {
    // Both have ended already.
  }
}
