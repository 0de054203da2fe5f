/** An installation of the shape of a point: its topics, configuration and pending retries, and all four services. */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { applyConfiguration, type Configuration } from '@tailrace/config';
import { parseDuration } from '@tailrace/events';
import type { Kafka, TopicSpec } from '@tailrace/kafka';
import { freePort } from '@tailrace/local';
import { encodeDelivery } from '@tailrace/records';
import { topicNames, topicSpecs } from '@tailrace/topology';
import { deliveryOf } from '../delivery/bodies.ts';
import type { ByProcess } from '../figures/measure.ts';
import { environmentOf, profileOf, retrySchedule, writeKeyOf } from '../pipeline/services.ts';
import { say, type Bench } from '../processes/bench.ts';
import { openKafka, untilTaken } from '../processes/kafka.ts';
import { spawnService } from '../processes/service-process.ts';
import type { Shape } from './curves.ts';

export interface InstallOptions {
  readonly profileFolder?: string | undefined;
  /** 32 bytes; the same for each installation on the same topics. Default: random. */
  readonly secretKey?: Buffer;
  /** What differs from the usual settings of all services. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Returns the configuration of a topic, instead of the usual one. */
  readonly topicConfig?: (usual: TopicSpec['config']) => TopicSpec['config'];
}

export interface Installation {
  readonly configuration: Configuration;
  readonly pids: ByProcess;
  /** From spawning each service until it was ready. */
  readonly startSeconds: ByProcess;
  readonly ports: { readonly ingest: number; readonly control: number };
  /** By service, of its probes and metrics. */
  readonly metricsPorts: ByProcess;
  readonly token: string;
  /** As `tailrace apply` without `--prune`. */
  readonly apply: (configuration: Configuration) => Promise<void>;
  /** Rejects when a process ends unexpectedly; never resolves. */
  readonly failed: Promise<never>;
}

const serviceNames = ['ingest', 'router', 'delivery', 'control'] as const;
const names = topicNames('tailrace.');
const hourMs = 3_600_000;
/** A configuration of 100,000 destinations is one transaction. */
const appliedWithinMs = 120_000;

/** @param origins of the receivers, which have the destinations in turn */
export async function install(
  { brokers, folder, resources, brokerDied }: Bench,
  shape: Shape,
  origins: readonly string[],
  { profileFolder, secretKey = randomBytes(32), settings, topicConfig = (usual) => usual }: InstallOptions,
): Promise<Installation> {
  const { partitions, retries } = shape;
  const token = randomBytes(16).toString('hex');
  const configuration = configurationFor(shape, origins);
  const kafka = openKafka(brokers);
  resources.defer(() => kafka.close());
  const schedule = settings?.['TAILRACE_RETRY_SCHEDULE'] ?? retrySchedule;
  const retryScheduleMs = schedule.split(',').map((delay) => parseDuration(delay) ?? NaN);
  const topics = topicSpecs(names, { partitions, retryScheduleMs });
  await kafka.ensureTopics(topics.map((topic) => ({ ...topic, config: topicConfig(topic.config) })));
  const apply = async (wanted: Configuration): Promise<void> => {
    const options = { secretKeys: { current: secretKey }, giveUpAfterMs: appliedWithinMs };
    await untilTaken(() => applyConfiguration(kafka, names.config, wanted, options));
  };
  const { destinations, sources } = configuration;
  say(`  applying ${destinations.length} destinations of ${sources.length} sources`);
  await apply(configuration);
  if (retries > 0) say(`  writing ${retries} retries`);
  await writeRetries(kafka, retries);

  const ports = { ingest: await freePort(), control: await freePort() };
  const control = { port: ports.control, token, folder };
  const env = {
    ...environmentOf({ brokers, partitions, ingestPort: ports.ingest, control }),
    TAILRACE_SECRET_KEY: secretKey.toString('hex'),
    ...settings,
  };
  const pids: Record<string, number> = {};
  const startSeconds: Record<string, number> = {};
  const metricsPorts: Record<string, number> = {};
  const ends: Promise<never>[] = [brokerDied];
  // In turn: together they would wait for the same cores.
  for (const name of serviceNames) {
    say(`  starting ${name}`);
    const spawnedAt = performance.now();
    const service = await spawnService({
      name,
      logFile: path.join(folder, `${name}.log`),
      profileFile: profileFolder && profileOf(profileFolder, name),
      env,
    });
    resources.use(service);
    ends.push(service.died);
    await Promise.race([service.ready, ...ends]);
    pids[name] = service.pid;
    metricsPorts[name] = service.metricsPort;
    startSeconds[name] = (performance.now() - spawnedAt) / 1_000;
  }
  const failed = Promise.race(ends);
  failed.catch(() => undefined);
  return { configuration, pids, startSeconds, ports, metricsPorts, token, apply, failed };
}

/** Always of the same length, as calls must be. */
export function sourceOf(nth: number): string {
  return `s${String(nth).padStart(5, '0')}`;
}

function configurationFor({ sources, fanOut }: Shape, origins: readonly string[]): Configuration {
  const sharedSecret = randomBytes(16).toString('hex');
  const ids = Array.from({ length: sources }, (_, nth) => sourceOf(nth));
  return {
    sources: ids.map((id) => ({ id, writeKeys: [writeKeyOf(id)], enabled: true, rateLimitBytes: 1e9 })),
    destinations: Array.from({ length: sources * fanOut }, (_, nth) => ({
      id: `d${nth}`,
      type: 'Webhooks',
      enabled: true,
      sources: [sourceOf(Math.floor(nth / fanOut))],
      settings: { sharedSecret, webhooks: [{ url: `${origins[nth % origins.length]}/hook/${nth}` }] },
    })),
  };
}

/** Deliveries that have failed once, and are due after the measurement. */
async function writeRetries(kafka: Kafka, count: number): Promise<void> {
  const publisher = kafka.publisher();
  const together = 4_000;
  const now = Date.now();
  const waiting = { attempt: 1, step: 1, firstAttemptAt: now, dueAt: now + hourMs };
  for (let first = 0; first < count; first += together) {
    const numbers = Array.from({ length: Math.min(together, count - first) }, (_, nth) => first + nth);
    await Promise.all(
      numbers.map((number) =>
        publisher.publish(encodeDelivery(names.retryTier(hourMs), deliveryOf(number, 'd0', waiting))),
      ),
    );
  }
  await publisher.close();
}
