/**
 * Runs the process of a service: settings, start, ready, stop, exit code.
 *
 * A service that starts before Kafka is available waits for it, live and not ready. Once it is ready it stays so until it
 * stops: a broker that stalls affects all replicas, and a load balancer without any of them would answer worse than they do.
 * Later trouble is a metric. An unexpected error ends the process, because continuing after it could lose events without
 * notice.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { isTailraceError, type TailraceError } from '@tailrace/errors';
import type { Tracing } from '@tailrace/tracing';
import type { TObject, TProperties } from 'typebox';
import { createHealth, type Health } from './health.ts';
import { createLog, type Log } from './log.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { startProbeServer, type Readiness } from './probe-server.ts';
import { watchProcess } from './process-metrics.ts';
import { misspelledVariables, readSettings, type Environment, type SettingsOf } from './settings/read.ts';
import type { serviceSettings } from './settings/shared.ts';
import { startServiceTracing } from './tracing.ts';

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
  /** The checks of `/readyz` and `tailrace_check_ok`. */
  readonly health: Health;
  /** Undefined where tracing is off. */
  readonly tracing: Tracing | undefined;
  /** Aborted when the process stops. */
  readonly signal: AbortSignal;
  /** Aborted before that, when the process has become unready and still serves for TAILRACE_SHUTDOWN_DELAY. */
  readonly leaving: AbortSignal;
  /** Registers a function to call at the stop, in reverse order of registration. `name` is for the log. */
  onClose(name: string, close: () => Promise<void> | void): void;
  /**
   * Calls `attempt` again while it fails with an error of status 503 (Kafka is unavailable, rejects the
   * credentials, lacks a topic). Until it resolves, the service is not ready, with the error as the reason. The log has
   * each different error once.
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
  const {
    logLevel,
    metricsPort,
    shutdownDelayMs,
    shutdownGraceMs,
    tracing: tracingSettings,
  } = settings as SettingsOf<TObject<ServiceProperties>>;
  const log = createLog(definition.name, logLevel);
  const metrics = createMetrics();
  watchProcess(metrics);
  const health = createHealth();
  const leaving = new AbortController();
  const stopping = new AbortController();
  const closers: Closer[] = [];
  let notReadyBecause: string | undefined = 'it is starting';

  const readiness = (): Readiness =>
    notReadyBecause === undefined
      ? { ready: true, checks: health.checks }
      : { ready: false, reason: notReadyBecause, checks: health.checks };
  watchHealth(metrics, readiness);
  for (const warning of misspelledVariables(definition.env, definition.settings)) log.warn(warning);

  const stop = async (reason: string, delayMs = 0): Promise<void> => {
    if (leaving.signal.aborted) return;
    const isServing = notReadyBecause === undefined;
    notReadyBecause = `it is stopping: ${reason}`;
    log.info({ reason }, 'stopping');
    leaving.abort();
    if (isServing && delayMs > 0) {
      log.info({ delayMs }, 'serving until load balancers have noticed');
      await wait(delayMs);
    }
    stopping.abort();
    const clean = await closeAll(closers, shutdownGraceMs, log);
    if (clean) log.info('stopped');
    process.exit(clean ? exitCodes.stopped : exitCodes.failed);
  };
  // Repeated signals are ignored: Ctrl-C reaches both npm and its children, and npm forwards it.
  // Only SIGTERM has the delay: Ctrl-C and the end of the parent come from a machine without load balancers.
  process.on('SIGTERM', () => void stop('SIGTERM', shutdownDelayMs));
  process.on('SIGINT', () => void stop('SIGINT'));
  if (process.connected) process.once('disconnect', () => void stop('the parent process ended'));
  process.on('uncaughtException', (error, origin) => {
    log.fatal({ err: error, origin }, 'unexpected error');
    process.exit(exitCodes.failed);
  });

  try {
    const probes = await startProbeServer({ port: metricsPort, metrics, readiness });
    closers.push({ name: 'probe server', close: () => probes.close() });
    log.info({ metricsPort: probes.port }, 'starting');
    const tracing = await startServiceTracing(definition.name, tracingSettings, { log, metrics });
    if (tracing) closers.push({ name: 'tracing', close: () => tracing.close(lastExportMs(shutdownGraceMs)) });
    const fields = await start({
      settings,
      log,
      metrics,
      health,
      tracing,
      signal: stopping.signal,
      leaving: leaving.signal,
      onClose: (name, close) => closers.push({ name, close }),
      whenAvailable: (what, attempt) => {
        const logged = new Set<string>();
        if (!leaving.signal.aborted) notReadyBecause = `it is waiting for ${what}`;
        return retryWhileUnavailable(attempt, stopping.signal, ({ code, message }) => {
          if (leaving.signal.aborted) return;
          notReadyBecause = `it is waiting for ${what}: ${message}`;
          if (logged.has(message) || logged.size >= maxLogged) return;
          logged.add(message);
          log.warn({ code, waitingFor: what }, message);
        });
      },
    });
    if (leaving.signal.aborted) return;
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

/** The last spans are worth a short wait only: a collector that does not answer is no reason for a failed stop. */
function lastExportMs(shutdownGraceMs: number): number {
  return Math.min(3_000, shutdownGraceMs / 4);
}

/** The metrics of what `/readyz` answers. */
function watchHealth(metrics: Metrics, readiness: () => Readiness): void {
  metrics.gauge('tailrace_ready', () => (readiness().ready ? 1 : 0));
  metrics.gauge('tailrace_check_ok', () =>
    readiness().checks.map(({ name, ok }) => ({ labels: { check: name }, value: ok ? 1 : 0 })),
  );
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

/** Bounds the memory for messages that contain something new each time. */
const maxLogged = 100;
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
