/**
 * Runs the process of a service: settings, start, ready, stop, exit code.
 *
 * A service that starts before Kafka is available waits for it, live and not ready. An unexpected error ends the process,
 * because continuing after it could lose events without notice.
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
  /** EX_CONFIG of sysexits.h: a restart without a change fails again. */
  invalidSettings: 78,
} as const;

type ServiceProperties = ReturnType<typeof serviceSettings>;

/** The parts that a service starts with. */
export interface ServiceContext<Settings> {
  readonly settings: Settings;
  readonly log: Log;
  readonly metrics: Metrics;
  /** The checks of `/readyz`. */
  readonly health: Health;
  /** Aborted when the process stops. */
  readonly signal: AbortSignal;
  /** Registers a function to call at the stop, in reverse order of registration. `name` is for the log. */
  onClose(name: string, close: () => Promise<void> | void): void;
  /**
   * Calls `attempt` again while it fails with an error of status 503 (Kafka is unavailable, rejects the
   * credentials, lacks a topic). Until it resolves, the service is not ready, with the error as the reason.
   */
  whenAvailable<T>(what: string, attempt: () => Promise<T>): Promise<T>;
}

/**
 * Runs `start` and then the service until SIGTERM, SIGINT or the end of a parent with an IPC channel.
 * Logs `ready`, with the fields from `start`, once `start` resolves.
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
  // Repeated signals are ignored: Ctrl-C reaches both npm and its children, and npm forwards it.
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

/** Whether all closed without an error within `graceMs` in total. */
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
          log.error({ err: error, closing: name }, 'close failed');
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

/** Prints plain text, because the reader is usually the person who started the process. */
function exitForSettings(error: TailraceError): never {
  process.stderr.write(`Invalid settings:\n${error.message.replaceAll(/^/gm, '  ')}\n`);
  process.exit(exitCodes.invalidSettings);
}
