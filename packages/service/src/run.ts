/**
 * The life of a service's process: settings, start, ready, stop, and an exit code that tells the truth.
 *
 * A service that cannot start because Kafka is not there yet waits for it, alive and not ready. Anything that
 * nobody expected ends the process, because what runs on after that could lose events quietly.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { isTailraceError, type TailraceError } from '@tailrace/errors';
import type { TObject, TProperties } from 'typebox';
import { createHealth, type Health } from './health.ts';
import { createLog, type Log } from './log.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { startProbeServer } from './probe-server.ts';
import { misspelledVariables, readSettings, type Environment, type SettingsOf } from './settings/read.ts';
import type { serviceSettings } from './settings/shared.ts';

export const exitCodes = {
  stopped: 0,
  failed: 1,
  /** EX_CONFIG of sysexits.h: starting it again without a change is of no use. */
  invalidSettings: 78,
} as const;

type ServiceProperties = ReturnType<typeof serviceSettings>;

/** What a service is given to start with. */
export interface ServiceContext<Settings> {
  readonly settings: Settings;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Its checks decide `/readyz`. */
  readonly health: Health;
  /** Aborted when the process is told to stop. */
  readonly signal: AbortSignal;
  /** Registers what to close on the way out; what was opened last is closed first. `name` is for the log. */
  onClose(name: string, close: () => Promise<void> | void): void;
  /**
   * Calls `attempt` until it resolves, for as long as it fails with an error that time may fix (one with
   * status 503: Kafka is away, refuses the credentials, lacks a topic). Not ready meanwhile, saying why.
   */
  whenAvailable<T>(what: string, attempt: () => Promise<T>): Promise<T>;
}

/**
 * Runs `start` and then the service until SIGTERM, SIGINT or the end of a parent that holds an IPC channel.
 * Logs the line `ready`, with the fields that `start` resolves with, once it works.
 */
export async function runService<P extends ServiceProperties>(
  definition: { readonly name: string; readonly env: Environment; readonly settings: TObject<P> },
  start: (
    service: ServiceContext<SettingsOf<TObject<P>>>,
  ) => Promise<Readonly<Record<string, unknown>> | undefined>,
): Promise<void> {
  const settings = readOrExit(definition.env, definition.settings);
  const { logLevel, metricsPort, shutdownGraceMs } = settings as SettingsOf<TObject<ServiceProperties>>;
  const log = createLog(definition.name, logLevel);
  const metrics = createMetrics();
  const health = createHealth();
  const stopping = new AbortController();
  const closers: Closer[] = [];
  let notReadyBecause: string | undefined = 'it is starting';

  health.add(
    'service',
    () => (notReadyBecause === undefined ? Promise.resolve() : Promise.reject(new Error(notReadyBecause))),
    { cacheMs: 0 },
  );
  for (const warning of misspelledVariables(definition.env, definition.settings)) log.warn(warning);

  const stop = async (reason: string): Promise<void> => {
    if (stopping.signal.aborted) return;
    notReadyBecause = `it is stopping: ${reason}`;
    log.info({ reason }, 'stopping');
    stopping.abort();
    const clean = await closeAll(closers, shutdownGraceMs, log);
    if (clean) log.info('stopped');
    process.exit(clean ? exitCodes.stopped : exitCodes.failed);
  };
  // A repeated signal changes nothing: Ctrl-C reaches both npm and its children, and each passes it on.
  process.on('SIGTERM', () => void stop('SIGTERM'));
  process.on('SIGINT', () => void stop('SIGINT'));
  if (process.connected) process.once('disconnect', () => void stop('the parent process ended'));
  process.on('uncaughtException', (error, origin) => {
    log.fatal({ err: error, origin }, 'unexpected error');
    process.exit(exitCodes.failed);
  });

  try {
    const probes = await startProbeServer({ port: metricsPort, metrics, health });
    closers.push({ name: 'probe server', close: () => probes.close() });
    log.info({ metricsPort: probes.port }, 'starting');
    const fields = await start({
      settings,
      log,
      metrics,
      health,
      signal: stopping.signal,
      onClose: (name, close) => closers.push({ name, close }),
      whenAvailable: (what, attempt) =>
        retryWhileUnavailable(attempt, stopping.signal, (error) => {
          notReadyBecause = `it is waiting for ${what}: ${error.message}`;
          log.warn({ code: error.code, waitingFor: what }, error.message);
        }),
    });
    if (stopping.signal.aborted) return;
    notReadyBecause = undefined;
    log.info({ ...fields }, 'ready');
    log.flush();
  } catch (error) {
    if (stopping.signal.aborted) return;
    if (isTailraceError(error, 'invalid-settings')) exitForSettings(error);
    log.fatal({ err: error }, 'could not start');
    process.exit(exitCodes.failed);
  }
}

interface Closer {
  readonly name: string;
  readonly close: () => Promise<void> | void;
}

/** Whether all closed, each without an error, within `graceMs` for all of them. */
async function closeAll(closers: Closer[], graceMs: number, log: Log): Promise<boolean> {
  const deadline = wait(graceMs, 'late' as const, { ref: false });
  let clean = true;
  for (let closer = closers.pop(); closer; closer = closers.pop()) {
    const { name, close } = closer;
    const outcome = await Promise.race([
      deadline,
      (async () => close())().then(
        () => 'closed' as const,
        (error: unknown) => {
          log.error({ err: error, closing: name }, 'an error while stopping');
          return 'failed' as const;
        },
      ),
    ]);
    if (outcome === 'late') {
      const unclosed = closers.map((closer) => closer.name).reverse();
      log.error({ hung: name, unclosed, graceMs }, `${name} did not stop in time`);
      return false;
    }
    clean &&= outcome === 'closed';
  }
  return clean;
}

const firstRetryMs = 500;
const longestRetryMs = 5_000;

async function retryWhileUnavailable<T>(
  attempt: () => Promise<T>,
  signal: AbortSignal,
  onFailure: (error: TailraceError) => void,
): Promise<T> {
  for (let delayMs = firstRetryMs; ; delayMs = Math.min(delayMs * 2, longestRetryMs)) {
    signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      if (!isTailraceError(error) || error.status !== 503) throw error;
      onFailure(error);
    }
    await wait(delayMs, undefined, { signal });
  }
}

function readOrExit<P extends TProperties>(env: Environment, schema: TObject<P>): SettingsOf<TObject<P>> {
  try {
    return readSettings(env, schema);
  } catch (error) {
    if (isTailraceError(error, 'invalid-settings')) exitForSettings(error);
    throw error;
  }
}

/** Plain text, because whoever reads this has just typed the command and no log collector is looking. */
function exitForSettings(error: TailraceError): never {
  process.stderr.write(`The settings are not usable:\n${error.message.replaceAll(/^/gm, '  ')}\n`);
  process.exit(exitCodes.invalidSettings);
}
