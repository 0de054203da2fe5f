/**
 * Keeps one service running as a child process. Its log goes to a file and, in part, to the terminal. When it dies,
 * this is reported and it is restarted, after a pause that doubles each time it does not last.
 *
 * The child has its own process group, so that Ctrl-C reaches only this process, which stops the services in order.
 * It has an IPC channel and stops when the channel closes, so it does not outlive this process.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { TailraceError } from '@tailrace/errors';
import { lastLines } from './failure.ts';
import type { LogFile } from './log-file.ts';
import { isWorthShowing, parseLogLine, shortForm, type Terminal } from './terminal.ts';

export interface ServiceDefinition {
  readonly name: string;
  /** The program and its arguments. */
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface Supervised {
  readonly name: string;
  /** The id of the current process. It changes with each restart. */
  readonly pid: number | undefined;
  /**
   * Resolves when the service is ready for the first time. Rejects with the reason where it will not become ready.
   */
  readonly ready: Promise<unknown>;
  /** Sends the stop signal, and resolves when the service has ended. */
  stop(): Promise<void>;
  /** Kills the service. */
  kill(): void;
}

/** EX_CONFIG of sysexits.h: the exit code for invalid settings, after which a restart has no use. */
const invalidSettingsExitCode = 78;
const startsBeforeGivingUp = 3;
const firstPauseMs = 500;
const longestPauseMs = 30_000;
/** After this time in the ready state, the pause before a restart is reset. */
const lastingMs = 60_000;
/** Longer than the grace period of a service. */
const stopTimeoutMs = 30_000;
const rememberedLines = 12;

export function supervise(
  definition: ServiceDefinition,
  { terminal, logFile }: { readonly terminal: Terminal; readonly logFile: LogFile },
): Supervised {
  const { name, env } = definition;
  const [program, ...args] = definition.command;
  const ready = Promise.withResolvers<boolean>();
  // Callers may ignore it.
  ready.promise.catch(() => undefined);
  let child: ChildProcess;
  let ended: Promise<unknown>;
  let wasReady = false;
  let stopping = false;
  let failures = 0;
  let restart: NodeJS.Timeout | undefined;

  const start = (): void => {
    const recent: string[] = [];
    let readySince: number | undefined;
    const started = spawn(program, args, {
      env: { ...env },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    child = started;
    const onLine = (text: string): void => {
      logFile.write(text);
      recent.push(text);
      if (recent.length > rememberedLines) recent.shift();
      const line = parseLogLine(text);
      if (line === undefined) terminal.say(name, text);
      else if (isWorthShowing(line)) terminal.say(name, shortForm(line));
      else if (line.msg === 'ready') {
        readySince = Date.now();
        if (wasReady) terminal.say(name, `is ready again, as process ${started.pid ?? 0}`, 'good');
        wasReady = true;
        ready.resolve(true);
      }
    };
    const output = [started.stdout, started.stderr].flatMap((stream) => {
      if (stream === null) return [];
      const lines = createInterface({ input: stream });
      lines.on('line', onLine);
      return once(lines, 'close');
    });
    ended = once(started, 'exit').then(async ([code, signal]: unknown[]) => {
      await Promise.all(output);
      if (stopping) return;
      onDeath(describeEnd(code, signal), code, recent, readySince);
    });
  };

  const onDeath = (
    how: string,
    code: unknown,
    recent: readonly string[],
    readySince: number | undefined,
  ): void => {
    const lasted = readySince !== undefined && Date.now() - readySince > lastingMs;
    failures = lasted ? 1 : failures + 1;
    if (!wasReady && (code === invalidSettingsExitCode || failures >= startsBeforeGivingUp)) {
      ready.reject(new TailraceError('local-start-failed', `${name} could not start: ${how}.`));
      return;
    }
    const pauseMs = Math.min(firstPauseMs * 2 ** (failures - 1), longestPauseMs);
    const readable = recent.map((text) => {
      const line = parseLogLine(text);
      return line === undefined ? text : shortForm(line);
    });
    terminal.say(name, `${how}, restarting in ${pauseMs / 1_000} s`, 'bad');
    terminal.say(name, `its last log lines (all are in ${logFile.path}):\n${lastLines(readable.join('\n'))}`);
    restart = setTimeout(start, pauseMs);
  };

  start();
  return {
    name,
    get pid() {
      return child.pid;
    },
    ready: ready.promise,
    async stop() {
      stopping = true;
      clearTimeout(restart);
      child.kill('SIGTERM');
      const timer = setTimeout(() => {
        terminal.say(name, 'did not stop in time, killing it', 'bad');
        child.kill('SIGKILL');
      }, stopTimeoutMs);
      await ended;
      clearTimeout(timer);
      logFile.close();
    },
    kill() {
      stopping = true;
      clearTimeout(restart);
      child.kill('SIGKILL');
    },
  };
}

function describeEnd(code: unknown, signal: unknown): string {
  return typeof signal === 'string' ? `ended by ${signal}` : `ended with exit code ${String(code)}`;
}
