/**
 * The pipeline that is measured: ingest, router and delivery as processes of their own, run as in a cluster,
 * with the settings an operator has who sets nothing. Their logs go to files, as a log collector would have
 * them; reading them here would cost this process, which is the load generator, a line per event.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { applyConfiguration } from '@tailrace/config';
import { freePort } from '@tailrace/local';
import { parseDuration, topicNames, topicSpecs } from '@tailrace/topics';
import { withKafka } from './kafka.ts';
import type { ByProcess } from './measure.ts';

export const serviceNames = ['ingest', 'router', 'delivery'] as const;

export interface SystemOptions {
  readonly brokers: readonly string[];
  readonly partitions: number;
  /** Where webhooks go, signed with `sharedSecret`. */
  readonly url: string;
  readonly sharedSecret: string;
  /** For the services' logs; exists. */
  readonly folder: string;
  /** Where each service leaves a CPU profile when it stops; none where absent. */
  readonly profileFolder?: string | undefined;
}

export interface System extends AsyncDisposable {
  readonly pids: ByProcess;
  readonly ingestPort: number;
  readonly writeKey: string;
  /** Rejects when a service ends without having been told to; never resolves. */
  readonly died: Promise<never>;
}

const root = path.join(import.meta.dirname, '../..');
const readyWithinMs = 60_000;
const stopsWithinMs = 30_000;
const writeKey = 'wk_bench';
/** The default, said here because the topics are made from it too. */
const retrySchedule = '10s,1m,5m,20m,1h,1h,1h,20m';

/** Creates the topics, applies a source and a destination, and starts the services; resolves when all are ready. */
export async function startSystem(options: SystemOptions): Promise<System> {
  await prepare(options);
  await using starting = new AsyncDisposableStack();
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  const ingestPort = await freePort();
  const pids: Record<string, number> = {};
  const ready: Promise<void>[] = [];
  for (const name of serviceNames) {
    const metricsPort = await freePort();
    const service = spawnService(name, options, {
      PATH: process.env['PATH'],
      KAFKA_BROKERS: options.brokers.join(','),
      TAILRACE_PARTITIONS: String(options.partitions),
      TAILRACE_RETRY_SCHEDULE: retrySchedule,
      TAILRACE_INGEST_PORT: String(ingestPort),
      TAILRACE_METRICS_PORT: String(metricsPort),
      TAILRACE_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
    });
    starting.defer(() => service.stop());
    service.died.catch(failed.reject);
    pids[name] = service.pid;
    ready.push(untilReady(name, metricsPort));
  }
  await Promise.race([Promise.all(ready), failed.promise]);
  const running = starting.move();
  return {
    pids,
    ingestPort,
    writeKey,
    died: failed.promise,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function prepare({ brokers, partitions, url, sharedSecret }: SystemOptions): Promise<void> {
  const names = topicNames('tailrace.');
  const retryScheduleMs = retrySchedule.split(',').map((delay) => parseDuration(delay) ?? NaN);
  const source = { id: 'bench', writeKeys: [writeKey], enabled: true };
  const destination = {
    id: 'receiver',
    type: 'Webhooks' as const,
    enabled: true,
    sources: [source.id],
    settings: { sharedSecret, webhooks: [{ url }] },
  };
  await withKafka(brokers, async (kafka) => {
    await kafka.ensureTopics(topicSpecs(names, { partitions, retryScheduleMs }));
    await applyConfiguration(kafka, names.config, { sources: [source], destinations: [destination] });
  });
}

interface Service {
  readonly pid: number;
  readonly died: Promise<never>;
  stop(): Promise<void>;
}

function spawnService(
  name: string,
  { folder, profileFolder }: SystemOptions,
  env: Readonly<Record<string, string | undefined>>,
): Service {
  const logFile = path.join(folder, `${name}.log`);
  const log = openSync(logFile, 'a');
  const profiling =
    profileFolder === undefined
      ? []
      : ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`, `--cpu-prof-name=${name}.cpuprofile`];
  // A service that has an IPC channel stops when the process at its other end is gone.
  const child = spawn(
    process.execPath,
    ['--disable-warning=TimeoutNegativeWarning', ...profiling, `services/${name}/src/main.ts`],
    { cwd: root, env, stdio: ['ignore', log, log, 'ipc'] },
  );
  closeSync(log);
  let stopping = false;
  const died = once(child, 'exit').then(() => {
    if (stopping) return new Promise<never>(() => undefined);
    const how = child.signalCode ?? `code ${child.exitCode ?? NaN}`;
    throw new Error(`${name} ended with ${how}; its last lines:\n${lastLines(logFile)}`);
  });
  return {
    pid: child.pid ?? NaN,
    died,
    async stop() {
      stopping = true;
      if (hasEnded(child)) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), stopsWithinMs);
      await ended;
      clearTimeout(timer);
    },
  };
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
