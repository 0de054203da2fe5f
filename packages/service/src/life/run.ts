/**
 * Runs the process of a service: settings, signals, exit code. An unexpected error ends the process, because continuing
 * after it could lose events without notice.
 */
import { isTailraceError, type TailraceError } from '@tailrace/errors';
import type { TObject, TProperties } from 'typebox';
import { createLog } from '../log/log.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { watchProcess } from '../metrics/process.ts';
import { Service, type ServiceDefinition, type ServiceProperties } from './service.ts';
import { misspelledVariables, readSettings, type Environment, type SettingsOf } from '../settings/read.ts';

const exitCodes = {
  stopped: 0,
  failed: 1,
  /** EX_CONFIG of sysexits.h: a restart without a change fails again. */
  invalidSettings: 78,
} as const;

/** Runs the service until SIGTERM, SIGINT or the end of a parent with an IPC channel. */
export async function runService<P extends ServiceProperties>(
  definition: ServiceDefinition<P>,
  env: Environment,
): Promise<void> {
  const settings = readOrExit(env, definition.settings);
  const { logLevel, shutdownDelayMs } = settings as SettingsOf<TObject<ServiceProperties>>;
  const log = createLog(definition.name, logLevel);
  const metrics = createMetrics();
  watchProcess(metrics);
  const service = new Service(definition, settings, { log, metrics });
  for (const warning of misspelledVariables(env, definition.settings)) log.warn(warning);

  const stop = async (reason: string, delayMs?: number): Promise<void> => {
    const clean = await service.stop(reason, delayMs);
    if (clean !== undefined) process.exit(clean ? exitCodes.stopped : exitCodes.failed);
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
    await service.start();
  } catch (error) {
    if (isTailraceError(error, 'invalid-settings')) exitForSettings(error);
    log.fatal({ err: error }, 'could not start');
    process.exit(exitCodes.failed);
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
