/**
 * One service as a child process, kept running: what it logs goes to a file and, where it matters, to the
 * terminal; when it dies it is named and started again, after a pause that doubles each time it does not last.
 *
 * The child is in a process group of its own, so that Ctrl-C reaches only this process, which stops the
 * services in order. It does not outlive this process either: it has an IPC channel, and treats the channel's
 * end as the signal to stop.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { TailraceError } from '@tailrace/errors';
import { lastLines } from './failure.ts';
import type { LogFile } from './log-file.ts';
import { nodeFlags } from './node-flags.ts';
import { isWorthShowing, parseLogLine, shortForm, type Terminal } from './terminal.ts';

export interface ServiceDefinition {
  readonly name: string;
  /** The file that Node runs. */
  readonly script: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface Supervised {
  readonly name: string;
  /** Of the present process; another one after each death. */
  readonly pid: number | undefined;
  /** Resolves when it is ready for the first time; rejects where it will not be, with why. */
  readonly ready: Promise<unknown>;
  /** Asks it to stop and resolves when it has ended. */
  stop(): Promise<void>;
  /** Ends it at once. */
  kill(): void;
}

/** EX_CONFIG of sysexits.h, by which a service says that it is useless to start it again as it is. */
const invalidSettingsExitCode = 78;
const startsBeforeGivingUp = 3;
const firstPauseMs = 500;
const longestPauseMs = 30_000;
/** Having been ready for so long, a service begins anew with the shortest pause. */
const lastingMs = 60_000;
/** More than the grace that a service gives itself. */
const stopTimeoutMs = 30_000;
const rememberedLines = 12;

export function supervise(
  definition: ServiceDefinition,
  { terminal, logFile }: { readonly terminal: Terminal; readonly logFile: LogFile },
): Supervised {
  const { name, script, env } = definition;
  const ready = Promise.withResolvers<boolean>();
  // Not everybody waits for it.
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
    const started = spawn(process.execPath, [...nodeFlags, script], {
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
    terminal.say(name, `${how}; it is started again in ${pauseMs / 1_000} s`, 'bad');
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
        terminal.say(name, 'does not stop, and is killed', 'bad');
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
