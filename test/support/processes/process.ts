/** Starts services as processes, as in a cluster, with their settings in the environment. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { startScript, withThisNode } from '@tailrace/local';
import type { LogLine, ServiceHere } from '@tailrace/service/testing';
import { collect, limitMs, realTimers, type Collected } from '@tailrace/testing';

export type { LogLine };

export type Environment = Readonly<Record<string, string>>;

export interface ServiceProcess extends ServiceHere {
  /** Of the running process; undefined between `kill` and `restart`. */
  readonly pid: number | undefined;
  /** Of all its runs, standard error included. */
  readonly log: Collected<LogLine>;
  /** Sends SIGKILL; resolves when the process has ended. */
  kill(): Promise<void>;
  /** Starts it again after `kill` or `stop`, and resolves when it is ready. */
  restart(): Promise<void>;
  /** Sends SIGTERM; rejects unless it exits with code 0 in time. Disposal does the same. */
  stop(): Promise<void>;
}

export interface ProcessOptions {
  readonly name: string;
  /** The program and its arguments. */
  readonly command: readonly [string, ...string[]];
  /** Replaces the environment of this process, except PATH, HOME and the cache of compiled code. */
  readonly env: Environment;
  /** Returns the process that gets the signal to stop, where it is not the one that is started, with this id. */
  readonly signalTo?: (pid: number) => number;
}

const preload = pathToFileURL(path.join(import.meta.dirname, 'exit-with-parent.ts')).href;
const root = path.join(import.meta.dirname, '../../..');

/** Starts a service as in a cluster, with `services/start.ts`, and resolves when it has logged `ready`. */
export function startService(name: string, env: Environment): Promise<ServiceProcess> {
  return startProcess({ name, command: [startScript, name], env });
}

export async function startProcess(options: ProcessOptions): Promise<ServiceProcess> {
  const { name, command, signalTo = (pid: number) => pid } = options;
  const log = collect<LogLine>(`the log of ${name}`, (line) => JSON.stringify(line));
  let child: ChildProcess | undefined;

  const start = async (): Promise<void> => {
    const [program, ...args] = command;
    const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
    const began = spawn(program, args, {
      env: withThisNode({
        PATH,
        HOME,
        NODE_COMPILE_CACHE,
        ...options.env,
        NODE_OPTIONS: `--import=${preload} ${options.env['NODE_OPTIONS'] ?? ''}`,
      }),
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      cwd: root,
    });
    child = began;
    const earlier = log.items.length;
    for (const stream of [began.stdout, began.stderr]) {
      if (stream)
        createInterface(stream).on('line', (line) => {
          log.add(parseLine(line));
        });
    }
    const isReady = (lines: readonly LogLine[]): boolean =>
      lines.slice(earlier).some(({ msg }) => msg === 'ready');
    const ready = log.waitFor(isReady);
    // `close` comes after the last line of output, unlike `exit`.
    began.once('close', (code, signal) => {
      if (child !== began) return;
      child = undefined;
      log.fail(new Error(`${name} ended by itself, with ${signal ?? `code ${String(code)}`}`));
    });
    await ready.catch(async (error: unknown) => {
      await end(began, 'SIGKILL');
      throw error;
    });
  };

  /** Sends `signal` and resolves with the exit code or signal. */
  const end = async (running: ChildProcess, signal: NodeJS.Signals): Promise<unknown> => {
    if (child === running) child = undefined;
    if (running.exitCode === null && running.signalCode === null) {
      const closed = once(running, 'close');
      process.kill(signal === 'SIGTERM' ? signalTo(running.pid ?? 0) : (running.pid ?? 0), signal);
      const timer = realTimers.setTimeout(() => {
        log.add({ msg: `did not end, and was killed: ${stateOf(running.pid)}` });
        running.kill('SIGKILL');
      }, limitMs);
      await closed;
      realTimers.clearTimeout(timer);
    }
    return running.signalCode ?? running.exitCode;
  };

  const stop = async (): Promise<void> => {
    if (!child) return;
    const ending = await end(child, 'SIGTERM');
    const last = log.items.slice(-5).map((line) => JSON.stringify(line));
    assert.equal(ending, 0, `${name} did not stop cleanly; its last lines:\n${last.join('\n')}`);
  };

  await start();
  return {
    name,
    get pid() {
      return child?.pid;
    },
    log,
    async kill() {
      if (child) await end(child, 'SIGKILL');
    },
    async restart() {
      assert.equal(child, undefined, `${name} still runs`);
      await start();
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Whether a process that hangs runs, waits, and for what, or was stopped; for Linux. */
function stateOf(pid = 0): string {
  const read = (name: string): string => {
    try {
      return readFileSync(`/proc/${pid}/${name}`, 'utf8').trim();
    } catch {
      return 'unknown';
    }
  };
  const state = /^State:\s*(.+)$/m.exec(read('status'))?.[1] ?? 'unknown';
  return `state ${state}, in ${read('wchan')}, system call ${read('syscall')}, times ${read('stat').split(' ').slice(13, 15).join(' ')}`;
}

/** A line that is not JSON (a stack trace, a warning) becomes `{ msg: line }`. */
function parseLine(line: string): LogLine {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null) return value as LogLine;
  } catch {
    // Not a log line: it is kept as text.
  }
  return { msg: line };
}
