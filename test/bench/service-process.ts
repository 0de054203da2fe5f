/**
 * A service as a process of its own, run as in a cluster. Its log goes to a file, as a log collector would have
 * it: reading it here would cost this process, which makes the load, a line per event.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, nodeFlags } from '@tailrace/local';

export interface ServiceOptions {
  /** Which of `services/`. */
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  readonly logFile: string;
  /** Where it leaves a CPU profile when it stops; none where absent. */
  readonly profileFile?: string | undefined;
}

export interface ServiceProcess extends AsyncDisposable {
  readonly pid: number;
  readonly metricsPort: number;
  /** Resolves once it says it is ready; rejects where it does not, in a minute. */
  readonly ready: Promise<void>;
  /** Rejects when it ends without having been told to; never resolves. */
  readonly died: Promise<never>;
  /** SIGTERM, and disposal too; resolves when it has ended. */
  stop(): Promise<void>;
}

const root = path.join(import.meta.dirname, '../..');
const readyWithinMs = 60_000;
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
  // A service that has an IPC channel stops when the process at its other end is gone.
  const child = spawn(process.execPath, [...nodeFlags, ...profiling, `services/${name}/src/main.ts`], {
    cwd: root,
    env: { PATH: process.env['PATH'], ...env, TAILRACE_METRICS_PORT: String(metricsPort) },
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
  // Whoever does not wait for them is not to be ended by them.
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
      // It does not listen yet.
    }
    await sleep(100);
  }
  throw new Error(`${name} is not ready after ${readyWithinMs} ms; it says ${answer}`);
}

function lastLines(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-10).join('\n');
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
