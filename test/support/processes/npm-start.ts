/** `npm start` as a user runs it in a terminal, with the test's own ports and data. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { discardData } from '../kafka/broker.ts';
import { collect, eventually, type Collected } from '@tailrace/testing';
import { closedPorts } from '../receivers/closed-port.ts';

const root = path.join(import.meta.dirname, '../../..');

/** One machine: everything that a start leaves for the next one. */
export interface Home extends AsyncDisposable {
  readonly dataDir: string;
  readonly ingestUrl: string;
  readonly ports: Readonly<Record<'ingest' | 'metrics' | 'control' | 'demo' | 'kafka', number>>;
  start(env?: Readonly<Record<string, string>>): NpmStart;
  /** Resolves when none of its ports is listened on. */
  untilQuiet(): Promise<void>;
}

export interface NpmStart {
  readonly lines: Collected<string>;
  /** Resolves with the first line from `from` on that matches `pattern`. */
  line(pattern: RegExp, from?: number): Promise<string>;
  /** Resolves with the line of the URLs. */
  ready(): Promise<string>;
  /** Sends what Ctrl-C sends: SIGINT to everything in the terminal's foreground. */
  pressCtrlC(): void;
  /** Sends SIGKILL to npm and the process it runs. */
  killHard(): void;
  /** Resolves with the exit code, as a shell shows it. */
  readonly exitCode: Promise<number>;
}

export async function createHome(): Promise<Home> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'tailrace-start-'));
  // Each service has a port for metrics, the first of which is set.
  const all = await closedPorts(8);
  const [metrics = NaN, , , , ingest = NaN, control = NaN, demo = NaN, kafka = NaN] = all;
  const ports = { ingest, control, demo, kafka, metrics };
  const untilQuiet = async (): Promise<void> => {
    await eventually(
      () => Promise.all(all.map((port) => isListenedOn(port))),
      (listened) => !listened.includes(true),
    );
  };
  const settings = {
    TAILRACE_DATA_DIR: dataDir,
    TAILRACE_INGEST_PORT: String(ports.ingest),
    TAILRACE_CONTROL_PORT: String(ports.control),
    TAILRACE_DEMO_PORT: String(ports.demo),
    TAILRACE_KAFKA_PORT: String(ports.kafka),
    TAILRACE_METRICS_PORT: String(metrics),
    NO_COLOR: '1',
  };
  const running = new Set<NpmStart>();
  return {
    dataDir,
    ports,
    ingestUrl: `http://127.0.0.1:${ports.ingest}`,
    untilQuiet,
    start(env = {}) {
      const start = npmStart({ ...settings, ...env });
      running.add(start);
      void start.exitCode.then(() => running.delete(start));
      return start;
    },
    async [Symbol.asyncDispose]() {
      for (const start of running) start.killHard();
      await untilQuiet();
      await discardData(path.join(dataDir, 'kafka'));
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

function npmStart(settings: Readonly<Record<string, string>>): NpmStart {
  const env = { ...withoutSettings(process.env), ...settings };
  // Its own process group stands for the terminal's foreground.
  const npm = spawn('npm', ['start'], { cwd: root, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const lines = collect<string>('the output of npm start', (line) => line);
  for (const stream of [npm.stdout, npm.stderr]) createInterface(stream).on('line', lines.add);
  const signalAll = (signal: NodeJS.Signals): void => {
    if (npm.exitCode === null && npm.signalCode === null) process.kill(-(npm.pid ?? 0), signal);
  };
  const killAll = (): void => {
    signalAll('SIGKILL');
  };
  // An aborted test run leaves no process behind.
  process.once('exit', killAll);
  const line: NpmStart['line'] = async (pattern, from = 0) => {
    const matches = (items: readonly string[]): string | undefined =>
      items.slice(from).find((item) => pattern.test(item));
    return matches(await lines.waitFor((items) => matches(items) !== undefined)) ?? '';
  };
  return {
    lines,
    line,
    ready: () => line(/^Tailrace is ready/),
    pressCtrlC: () => {
      signalAll('SIGINT');
    },
    killHard: killAll,
    exitCode: once(npm, 'close').then(([code, signal]: unknown[]) => {
      process.removeListener('exit', killAll);
      lines.fail(new Error('npm start has ended'));
      return typeof code === 'number' ? code : signal === 'SIGINT' ? 130 : 137;
    }),
  };
}

/** Keeps the variables that decide which broker is available: Java, the Docker engine, the image. */
function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isSetting = (name: string): boolean =>
    name !== 'TAILRACE_KAFKA_IMAGE' && /^(TAILRACE_|KAFKA_|SCHEMA_REGISTRY_|LOG_LEVEL$)/.test(name);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isSetting(name)));
}

export function isListenedOn(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => {
      resolve(false);
    });
  });
}
