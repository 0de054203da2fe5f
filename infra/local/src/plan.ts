/**
 * The plan of `npm start`, made from the environment before any process starts: services, ports and environments.
 */
import { join, resolve } from 'node:path';
import { TailraceError } from '@tailrace/errors';
import { readSettings, type Environment } from '@tailrace/service';
import { isFree } from './ports.ts';
import { settings as localSettings } from './settings.ts';
import { startScript } from './start-script.ts';

export interface PlannedService {
  readonly name: string;
  /** The program and its arguments. */
  readonly command: readonly [string, ...string[]];
  /** Environment variables in addition to those of all services. */
  readonly env: Readonly<Record<string, string>>;
  readonly ports: readonly { readonly port: number; readonly setting: string }[];
}

export interface Plan {
  /** Contains logs, keys and the data of the broker. */
  readonly dataDir: string;
  /** The preferred port of the broker. */
  readonly kafkaPort: number;
  /** The preferred port of the schema registry. Undefined for none. */
  readonly registryPort: number | undefined;
  readonly ingestPort: number;
  readonly controlPort: number;
  readonly metricsPort: number;
  /** The file with sources and destinations to apply. Undefined for the demo. */
  readonly configFile: string | undefined;
  readonly demoPort: number;
  readonly topicPrefix: string;
  /** In the order of stopping: services that accept new work come first. */
  readonly services: readonly PlannedService[];
}

/**
 * @throws TailraceError `invalid-settings` with all problems; services validate their own settings when they start
 */
export function makePlan(env: Environment, { colours = false } = {}): Plan {
  const settings = readSettings(env, localSettings);
  const { ingestPort, controlPort, metricsPort } = settings;

  const dataDir = resolve(settings.dataDir);

  const service = (name: string, index: number, own: PlannedService['ports'] = []): PlannedService => ({
    name,
    command: [startScript, name],
    env: {
      TAILRACE_METRICS_PORT: String(metricsPort + index),
      TAILRACE_DATA_DIR: join(dataDir, name),
    },
    ports: [...own, { port: metricsPort + index, setting: 'TAILRACE_METRICS_PORT' }],
  });
  const demo: PlannedService = {
    name: 'demo',
    command: [process.execPath, join(import.meta.dirname, 'demo-receiver.ts')],
    env: { TAILRACE_DEMO_PORT: String(settings.demoPort), ...(colours && { FORCE_COLOR: '1' }) },
    ports: [{ port: settings.demoPort, setting: 'TAILRACE_DEMO_PORT' }],
  };
  const services = [
    service('ingest', 0, [{ port: ingestPort, setting: 'TAILRACE_INGEST_PORT' }]),
    service('router', 1),
    service('delivery', 2),
    service('control', 3, [{ port: controlPort, setting: 'TAILRACE_CONTROL_PORT' }]),
  ];
  return {
    ...settings,
    configFile: settings.configFile,
    registryPort: settings.ownRegistry ? settings.registryPort : undefined,
    topicPrefix: settings.topics.prefix,
    dataDir,
    services: settings.configFile === undefined ? [...services, demo] : services,
  };
}

/** @throws TailraceError `local-start-failed`, with one sentence for each port that is in use */
export async function checkPorts({ services }: Plan): Promise<void> {
  const wanted = services.flatMap(({ name, ports }) => ports.map((port) => ({ name, ...port })));
  const problems = await Promise.all(
    wanted.map(async ({ name, port, setting }, index) => {
      const twin = wanted.findIndex((other) => other.port === port);
      if (twin < index)
        return `${wanted[twin]?.name ?? ''} and ${name} have the same port ${port}. Change ${setting}.`;
      if (await isFree(port)) return undefined;
      return `Port ${port} of ${name} is in use. Stop the process that uses it, or set ${setting} to another port.`;
    }),
  );
  const found = problems.filter((problem) => problem !== undefined);
  if (found.length > 0) throw new TailraceError('local-start-failed', found.join('\n'));
}
