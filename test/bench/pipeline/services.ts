/**
 * The pipeline that is measured: ingest, router and delivery as processes, with default settings.
 */
import path from 'node:path';
import { applyConfiguration } from '@tailrace/config';
import { freePort } from '@tailrace/local';
import { parseDuration, topicNames, topicSpecs } from '@tailrace/topics';
import { untilTaken, withKafka } from '../processes/kafka.ts';
import type { ByProcess } from '../figures/measure.ts';
import { spawnService } from '../processes/service-process.ts';

export const serviceNames = ['ingest', 'router', 'delivery'] as const;

export interface SystemOptions {
  readonly brokers: readonly string[];
  readonly partitions: number;
  /** The URL for webhooks, signed with `sharedSecret`. */
  readonly url: string;
  readonly sharedSecret: string;
  /** An existing folder for the services' logs. */
  readonly folder: string;
  /** The folder for CPU profiles when services stop; default: no profiles. */
  readonly profileFolder?: string | undefined;
}

export interface System extends AsyncDisposable {
  readonly pids: ByProcess;
  readonly ingestPort: number;
  readonly writeKey: string;
  /** Rejects when a service ends unexpectedly; never resolves. */
  readonly died: Promise<never>;
}

const writeKey = 'wk_bench';
/** The default; it is needed here because the topics depend on it too. */
const retrySchedule = '10s,1m,5m,20m,1h,1h,1h,20m';

/** Creates the topics, applies a source and a destination, and starts the services; resolves when all are ready. */
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
        env: {
          KAFKA_BROKERS: brokers.join(','),
          TAILRACE_PARTITIONS: String(partitions),
          TAILRACE_RETRY_SCHEDULE: retrySchedule,
          TAILRACE_INGEST_PORT: String(ingestPort),
          TAILRACE_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
        },
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
    writeKey,
    died: failed.promise,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** The file of a service's profile. */
export function profileOf(folder: string, name: string): string {
  return path.join(folder, `${name}.cpuprofile`);
}

async function prepare({ brokers, partitions, url, sharedSecret }: SystemOptions): Promise<void> {
  const names = topicNames('tailrace.');
  const retryScheduleMs = retrySchedule.split(',').map((delay) => parseDuration(delay) ?? NaN);
  const source = { id: 'bench', writeKeys: [writeKey], enabled: true, rateLimitBytes: 1_000_000_000 };
  const destination = {
    id: 'receiver',
    type: 'Webhooks' as const,
    enabled: true,
    sources: [source.id],
    settings: { sharedSecret, webhooks: [{ url }] },
  };
  await withKafka(brokers, async (kafka) => {
    await kafka.ensureTopics(topicSpecs(names, { partitions, retryScheduleMs }));
    await untilTaken(() =>
      applyConfiguration(kafka, names.config, { sources: [source], destinations: [destination] }),
    );
  });
}
