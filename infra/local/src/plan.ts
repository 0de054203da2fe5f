/**
 * The plan of `npm start`, made from the environment before any process starts: services, ports and environments.
 */
import { join, resolve } from 'node:path';
import { TailraceError } from '@tailrace/errors';
import { misspelledVariables, readSettings, type Environment, type SettingsOf } from '@tailrace/service';
import Type, { type TObject } from 'typebox';
import { environmentOf, withoutSecrets } from './environment.ts';
import { isFree } from './ports.ts';
import { settings as control } from '../../../services/control/src/settings.ts';
import { settings as delivery } from '../../../services/delivery/src/settings.ts';
import { settings as ingest } from '../../../services/ingest/src/settings.ts';
import { settings as router } from '../../../services/router/src/settings.ts';
import { settings as localSettings } from './settings.ts';
import { startScript } from './start-script.ts';

export interface PlannedService {
  readonly name: string;
  /** The program and its arguments. */
  readonly command: readonly [string, ...string[]];
  /** The variables that it gets of the environment are those that it reads. */
  readonly settings: TObject;
  /** Environment variables in addition. */
  readonly env: Readonly<Record<string, string>>;
  readonly ports: readonly { readonly port: number; readonly setting: string }[];
}

export interface Plan extends Omit<SettingsOf<typeof localSettings>, 'configFile' | 'registryPort'> {
  /** Undefined for none. */
  readonly registryPort: number | undefined;
  /** Undefined for the demo. */
  readonly configFile: string | undefined;
  readonly topicPrefix: string;
  /** In the order of stopping: services that accept new work come first. */
  readonly services: readonly PlannedService[];
  /** One sentence for each variable that is probably misspelled. No service gets it, so none would report it. */
  readonly warnings: readonly string[];
}

const services = { ingest, router, delivery, control };
const everySetting = Type.Object({ ...services, local: localSettings });

/**
 * @throws TailraceError `invalid-settings` with all problems; services validate their own settings when they start
 */
export function makePlan(env: Environment, { colours = false } = {}): Plan {
  const settings = readSettings(env, localSettings);
  const { ingestPort, controlPort, metricsPort } = settings;

  const dataDir = resolve(settings.dataDir);

  const service = (
    name: keyof typeof services,
    index: number,
    own: PlannedService['ports'] = [],
    more: PlannedService['env'] = {},
  ): PlannedService => ({
    name,
    command: [startScript, name],
    settings: services[name],
    env: {
      TAILRACE_HOST: settings.host,
      TAILRACE_METRICS_PORT: String(metricsPort + index),
      TAILRACE_DATA_DIR: join(dataDir, name),
      ...more,
    },
    ports: [...own, { port: metricsPort + index, setting: 'TAILRACE_METRICS_PORT' }],
  });
  const demo: PlannedService = {
    name: 'demo',
    command: [process.execPath, join(import.meta.dirname, 'demo-receiver.ts')],
    settings: Type.Object({}),
    env: { TAILRACE_DEMO_PORT: String(settings.demoPort), ...(colours && { FORCE_COLOR: '1' }) },
    ports: [{ port: settings.demoPort, setting: 'TAILRACE_DEMO_PORT' }],
  };
  const planned = [
    service('ingest', 0, [{ port: ingestPort, setting: 'TAILRACE_INGEST_PORT' }]),
    service('router', 1),
    service('delivery', 2),
    service('control', 3, [{ port: controlPort, setting: 'TAILRACE_CONTROL_PORT' }], {
      TAILRACE_CONTROL_PUBLIC_URL: env['TAILRACE_CONTROL_PUBLIC_URL'] ?? `http://localhost:${controlPort}`,
    }),
  ];
  return {
    ...settings,
    configFile: settings.configFile,
    registryPort: settings.ownRegistry ? settings.registryPort : undefined,
    topicPrefix: settings.topics.prefix,
    dataDir,
    services: settings.configFile === undefined ? [...planned, demo] : planned,
    warnings: misspelledVariables(env, everySetting),
  };
}

/** The environment of the process of a service, made from that of the machine. */
export function serviceEnvironment({ settings, env: own }: PlannedService, env: Environment): Environment {
  return { ...environmentOf(settings, env), ...own };
}

/** The environment of the broker and the registry, and of the tools that get them. */
export function brokerEnvironment(env: Environment): Environment {
  return withoutSecrets(everySetting, env);
}

/** @throws TailraceError `local-start-failed`, with one sentence for each port that is in use */
export async function checkPorts({ services, host }: Plan): Promise<void> {
  const wanted = services.flatMap(({ name, ports }) => ports.map((port) => ({ name, ...port })));
  const problems = await Promise.all(
    wanted.map(async ({ name, port, setting }, index) => {
      const twin = wanted.findIndex((other) => other.port === port);
      if (twin < index)
        return `${wanted[twin]?.name ?? ''} and ${name} have the same port ${port}. Change ${setting}.`;
      if (await isFree(port, host)) return undefined;
      return `Port ${port} of ${name} is in use. Stop the process that uses it, or set ${setting} to another port.`;
    }),
  );
  const found = problems.filter((problem) => problem !== undefined);
  if (found.length > 0) throw new TailraceError('local-start-failed', found.join('\n'));
}
