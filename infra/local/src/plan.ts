/**
 * What `npm start` is going to run, worked out from the environment before anything is started: which
 * services, on which ports, with which environment each.
 */
import { join, resolve } from 'node:path';
import { TailraceError } from '@tailrace/errors';
import { readSettings, type Environment } from '@tailrace/service';
import { isFree } from './ports.ts';
import { checkout, settings as localSettings } from './settings.ts';

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
  const settings = readSettings(env, localSettings);
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
    configFile: settings.configFile,
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
