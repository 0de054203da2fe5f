/**
 * The pipeline that is measured: ingest, router and delivery as processes, with default settings.
 */
import path from 'node:path';
import { applyConfiguration, type Configuration, type Source } from '@tailrace/config';
import { freePort } from '@tailrace/local';
import { parseDuration } from '@tailrace/events';
import { topicNames, topicSpecs } from '@tailrace/topology';
import { untilTaken, withKafka } from '../processes/kafka.ts';
import type { ByProcess } from '../figures/measure.ts';
import { spawnService } from '../processes/service-process.ts';

export const serviceNames = ['ingest', 'router', 'delivery'] as const;

export interface SystemOptions {
  readonly brokers: readonly string[];
  readonly partitions: number;
  readonly configuration: Configuration;
  /** An existing folder for the services' logs. */
  readonly folder: string;
  /** The folder for CPU profiles when services stop; default: no profiles. */
  readonly profileFolder?: string | undefined;
}

export interface System extends AsyncDisposable {
  readonly pids: ByProcess;
  readonly ingestPort: number;
  /** Rejects when a service ends unexpectedly; never resolves. */
  readonly died: Promise<never>;
}

/** The default; it is needed here because the topics depend on it too. */
export const retrySchedule = '10s,1m,5m,20m,1h,1h,1h,20m';

/** Creates the topics, applies the configuration, and starts the services; resolves when all are ready. */
export async function startSystem(options: SystemOptions): Promise<System> {
  await prepare(options);
  const { brokers, partitions, folder, profileFolder } = options;
  await using starting = new AsyncDisposableStack();
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  const ingestPort = await freePort();
  const pids: Record<string, number> = {};
  const ready: Promise<void>[] = [];
  for (const name of serviceNames) {
    const service = starting.use(
      await spawnService({
        name,
        logFile: path.join(folder, `${name}.log`),
        profileFile: profileFolder && profileOf(profileFolder, name),
        env: environmentOf({ brokers, partitions, ingestPort }),
      }),
    );
    service.died.catch(failed.reject);
    pids[name] = service.pid;
    ready.push(service.ready);
  }
  await Promise.race([Promise.all(ready), failed.promise]);
  const running = starting.move();
  return {
    pids,
    ingestPort,
    died: failed.promise,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** The settings of services whose receivers are on this machine, with those of control where it is one of them. */
export function environmentOf({
  brokers,
  partitions,
  ingestPort,
  control,
}: {
  readonly brokers: readonly string[];
  readonly partitions: number;
  readonly ingestPort: number;
  readonly control?: { readonly port: number; readonly token: string; readonly folder: string };
}): Readonly<Record<string, string>> {
  return {
    KAFKA_BROKERS: brokers.join(','),
    TAILRACE_PARTITIONS: String(partitions),
    TAILRACE_RETRY_SCHEDULE: retrySchedule,
    TAILRACE_INGEST_PORT: String(ingestPort),
    TAILRACE_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
    ...(control && {
      TAILRACE_CONTROL_PORT: String(control.port),
      TAILRACE_API_TOKEN: control.token,
      TAILRACE_DATA_DIR: path.join(control.folder, 'control'),
    }),
  };
}

/** The file of a service's profile. */
export function profileOf(folder: string, name: string): string {
  return path.join(folder, `${name}.cpuprofile`);
}

async function prepare({ brokers, partitions, configuration }: SystemOptions): Promise<void> {
  const names = topicNames('tailrace.');
  const retryScheduleMs = retrySchedule.split(',').map((delay) => parseDuration(delay) ?? NaN);
  await withKafka(brokers, async (kafka) => {
    await kafka.ensureTopics(topicSpecs(names, { partitions, retryScheduleMs }));
    await untilTaken(() => applyConfiguration(kafka, names.config, configuration));
  });
}

/** A source with a destination of its own. */
export function connected(
  id: string,
  url: string,
  sharedSecret: string,
  source: Partial<Source> = {},
): Configuration {
  return {
    sources: [{ id, writeKeys: [writeKeyOf(id)], enabled: true, ...source }],
    destinations: [
      {
        id: `${id}-receiver`,
        type: 'Webhooks',
        enabled: true,
        sources: [id],
        settings: { sharedSecret, webhooks: [{ url }] },
      },
    ],
  };
}

export function writeKeyOf(sourceId: string): string {
  return `wk_${sourceId}`;
}

/** The headers of calls of the source. */
export function headersOf(sourceId: string): Readonly<Record<string, string>> {
  return { authorization: `Basic ${btoa(`${writeKeyOf(sourceId)}:`)}`, 'content-type': 'application/json' };
}
