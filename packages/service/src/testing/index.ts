/** Runs a service in the process of a test, with the same life as in a process of its own. */
import type { connectKafka } from '@tailrace/kafka';
import { collect, holdRealTime, type Collected } from '@tailrace/testing';
import type { TObject } from 'typebox';
import { createLogTo } from '../log/log.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { watchProcess } from '../metrics/process.ts';
import { Service, type ServiceDefinition, type ServiceProperties } from '../life/service.ts';
import { readSettings, type Environment, type SettingsOf } from '../settings/read.ts';

/** A line of the log of a service. */
export type LogLine = Readonly<Record<string, unknown>> & { readonly msg?: unknown };

export interface ServiceHere extends AsyncDisposable {
  readonly name: string;
  readonly log: Collected<LogLine>;
  /** Resolves when all parts are closed. Rejects if one failed to close, or not in time. Disposal does the same. */
  stop(): Promise<void>;
}

export interface HereOptions {
  /** Default: a connection to the brokers of the settings. */
  readonly connect?: typeof connectKafka;
  readonly onLine?: (line: LogLine) => void;
  /** Also the metrics of Node and of the process. Default: false. */
  readonly processMetrics?: boolean;
}

/**
 * Resolves when the service is ready.
 *
 * @throws TailraceError `invalid-settings`, and any error before the service is ready
 */
export async function startHere<P extends ServiceProperties>(
  definition: ServiceDefinition<P>,
  env: Environment,
  { connect, onLine = () => undefined, processMetrics = false }: HereOptions = {},
): Promise<ServiceHere> {
  const settings = readSettings({ TAILRACE_METRICS_PORT: '0', ...env }, definition.settings);
  const { logLevel } = settings as SettingsOf<TObject<ServiceProperties>>;
  const lines = collect<LogLine>(`the log of ${definition.name}`, (line) => JSON.stringify(line));
  const write = (text: string): void => {
    const line = JSON.parse(text) as LogLine;
    lines.add(line);
    onLine(line);
  };
  const log = createLogTo({ write }, definition.name, logLevel);
  const metrics = createMetrics({ processMetrics });
  if (processMetrics) watchProcess(metrics);
  const service = new Service(definition, settings, { log, metrics, ...(connect && { connect }) });
  const realTime = holdRealTime(definition.name);
  let stopping: Promise<void> | undefined;
  const stopService = (why: string): Promise<boolean | undefined> =>
    service.stop(why).finally(() => {
      realTime[Symbol.dispose]();
    });
  const stop = async (): Promise<void> => {
    if (await stopService('the test is over')) return;
    throw new Error(`${definition.name} did not stop as it should: ${JSON.stringify(lines.items.slice(-5))}`);
  };
  try {
    await service.start();
  } catch (error) {
    await stopService('it could not start');
    throw error;
  }
  const stopOnce = (): Promise<void> => (stopping ??= stop());
  return { name: definition.name, log: lines, stop: stopOnce, [Symbol.asyncDispose]: stopOnce };
}

/** The origin of the probes of a service that has started. */
export function probesUrlOf({ log }: Pick<ServiceHere, 'log'>): string {
  return originOf(log, 'starting', 'metricsPort');
}

/** The origin of the API of a service that is ready. */
export function urlOf({ log }: Pick<ServiceHere, 'log'>): string {
  return originOf(log, 'ready', 'port');
}

/** Of the last start: a service that is started again may listen on another port. */
function originOf({ items }: Collected<LogLine>, msg: string, field: string): string {
  const line = items.findLast((item) => item.msg === msg);
  return `http://127.0.0.1:${String(line?.[field])}`;
}
