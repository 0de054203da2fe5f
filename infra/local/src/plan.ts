/**
 * What `npm start` is going to run, worked out from the environment before anything is started: which
 * services, on which ports, with which environment each.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { TailraceError } from '@tailrace/errors';
import {
  flag,
  integer,
  readSettings,
  serviceSettings,
  text,
  topicSettings,
  type Environment,
} from '@tailrace/service';
import { demoPort } from './demo.ts';
import { isFree } from './ports.ts';

export const checkout = join(import.meta.dirname, '..', '..', '..');

export interface PlannedService {
  readonly name: string;
  readonly script: string;
  /** What it gets beside the environment that all share. */
  readonly env: Readonly<Record<string, string>>;
  readonly ports: readonly { readonly port: number; readonly setting: string }[];
}

export interface Plan {
  /** Logs, keys and the broker's data. */
  readonly dataDir: string;
  /** Where the broker listens if that port is free. */
  readonly kafkaPort: number;
  /** Where a schema registry of its own listens if that port is free; undefined for none. */
  readonly registryPort: number | undefined;
  readonly ingestPort: number;
  readonly controlPort: number;
  readonly metricsPort: number;
  /** The sources and destinations to apply; undefined for the demo's. */
  readonly configFile: string | undefined;
  readonly demoPort: number;
  readonly topicPrefix: string;
  /** In the order in which they are stopped: first whoever takes work in. */
  readonly services: readonly PlannedService[];
}

/** Fails with `invalid-settings` and every problem. Services check the settings of their own when they start. */
export function makePlan(env: Environment, { colours = false } = {}): Plan {
  const port = (name: string, fallback: number, max = 65_535) => integer(name, { min: 1, max }, fallback);
  const settings = readSettings(
    env,
    {
      dataDir: text('TAILRACE_DATA_DIR', join(checkout, '.tailrace')),
      configFile: text('TAILRACE_CONFIG'),
      kafkaPort: port('TAILRACE_KAFKA_PORT', 9092),
      ingestPort: port('TAILRACE_INGEST_PORT', 8080),
      controlPort: port('TAILRACE_CONTROL_PORT', 8081),
      demoPort: port('TAILRACE_DEMO_PORT', demoPort),
      ownRegistry: flag('TAILRACE_REGISTRY', false),
      registryPort: port('TAILRACE_REGISTRY_PORT', 8083),
      // The first of four in a row, one for each service.
      metricsPort: port('TAILRACE_METRICS_PORT', 9464, 65_532),
      // Checked here so that a slip shows before the broker is started.
      topics: topicSettings(),
      logLevel: serviceSettings({ metricsPort: 0 }).logLevel,
    },
    ({ configFile }) =>
      configFile === undefined || existsSync(configFile)
        ? []
        : [`TAILRACE_CONFIG: there is no file ${configFile}`],
  );
  const { ingestPort, controlPort, metricsPort } = settings;

  const dataDir = resolve(settings.dataDir);

  const service = (name: string, index: number, own: PlannedService['ports'] = []): PlannedService => ({
    name,
    script: join(checkout, 'services', name, 'src', 'main.ts'),
    env: {
      TAILRACE_METRICS_PORT: String(metricsPort + index),
      TAILRACE_DATA_DIR: join(dataDir, name),
    },
    ports: [...own, { port: metricsPort + index, setting: 'TAILRACE_METRICS_PORT' }],
  });
  const demo: PlannedService = {
    name: 'demo',
    script: join(import.meta.dirname, 'demo-receiver.ts'),
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
    registryPort: settings.ownRegistry ? settings.registryPort : undefined,
    topicPrefix: settings.topics.prefix,
    dataDir,
    services: settings.configFile === undefined ? [...services, demo] : services,
  };
}

/** Fails with `local-start-failed` and one sentence for each port that something else listens on. */
export async function checkPorts({ services }: Plan): Promise<void> {
  const wanted = services.flatMap(({ name, ports }) => ports.map((port) => ({ name, ...port })));
  const problems = await Promise.all(
    wanted.map(async ({ name, port, setting }, index) => {
      const twin = wanted.findIndex((other) => other.port === port);
      if (twin < index)
        return `Port ${port} is given to both ${wanted[twin]?.name ?? ''} and ${name}: change ${setting}.`;
      if (await isFree(port)) return undefined;
      return `Port ${port}, which ${name} is to listen on, is in use: stop what uses it, or set ${setting} to another.`;
    }),
  );
  const found = problems.filter((problem) => problem !== undefined);
  if (found.length > 0) throw new TailraceError('local-start-failed', found.join('\n'));
}
