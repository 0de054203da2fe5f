/**
 * A service as a process, run as in a cluster. Its log is written to a file, as with a log collector: reading it here would
 * load this process, which generates the load.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, startScript, withThisNode } from '@tailrace/local';

export interface ServiceOptions {
  /** The folder in `services/`. */
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  readonly logFile: string;
  /** The folder for a CPU profile when it stops; default: no profile. */
  readonly profileFile?: string | undefined;
}

export interface ServiceProcess extends AsyncDisposable {
  readonly pid: number;
  readonly metricsPort: number;
  /** Resolves when it is ready; rejects after ten minutes. */
  readonly ready: Promise<void>;
  /** Rejects when it ends unexpectedly; never resolves. */
  readonly died: Promise<never>;
  /** Sends SIGTERM, as disposal does; resolves when it has ended. */
  stop(): Promise<void>;
}

const root = path.join(import.meta.dirname, '../../..');
/** The settings of the caller, with which a bench measures what tracing or another setting costs. */
function callersSettings(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => /^(OTEL|TAILRACE)_/.test(name)));
}

const readyWithinMs = 600_000;
const stopsWithinMs = 30_000;

export async function spawnService({
  name,
  env,
  logFile,
  profileFile,
}: ServiceOptions): Promise<ServiceProcess> {
  const metricsPort = await freePort();
  const log = openSync(logFile, 'a');
  const profiling =
    profileFile === undefined
      ? []
      : [
          '--cpu-prof',
          `--cpu-prof-dir=${path.dirname(profileFile)}`,
          `--cpu-prof-name=${path.basename(profileFile)}`,
        ];
  // A service with an IPC channel stops when the process at the other end has ended.
  const child = spawn(startScript, [name], {
    cwd: root,
    env: withThisNode({
      PATH: process.env['PATH'],
      NODE_OPTIONS: profiling.join(' '),
      ...callersSettings(),
      ...env,
      TAILRACE_METRICS_PORT: String(metricsPort),
    }),
    stdio: ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  let stopping = false;
  const died = once(child, 'exit').then(() => {
    if (stopping) return new Promise<never>(() => undefined);
    const how = child.signalCode ?? `code ${child.exitCode ?? NaN}`;
    throw new Error(`${name} ended with ${how}; its last lines:\n${lastLines(logFile)}`);
  });
  const ready = Promise.race([untilReady(name, metricsPort), died]);
  // A rejection that is not awaited must not end the process.
  for (const promise of [died, ready]) promise.catch(() => undefined);
  const stop = async (): Promise<void> => {
    stopping = true;
    if (hasEnded(child)) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), stopsWithinMs);
    await ended;
    clearTimeout(timer);
  };
  return { pid: child.pid ?? NaN, metricsPort, ready, died, stop, [Symbol.asyncDispose]: stop };
}

async function untilReady(name: string, metricsPort: number): Promise<void> {
  const deadline = Date.now() + readyWithinMs;
  let answer = 'nothing';
  while (Date.now() < deadline) {
    try {
      const response = await fetch(`http://127.0.0.1:${metricsPort}/readyz`);
      answer = await response.text();
      if (response.ok) return;
    } catch {
      // It is not listening yet.
    }
    await sleep(100);
  }
  throw new Error(`${name} is not ready after ${readyWithinMs} ms; its answer: ${answer}`);
}

function lastLines(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-10).join('\n');
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
