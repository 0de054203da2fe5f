/** Ingest, router, delivery and control in the process of the test, on an in-memory cluster or on the Kafka that all tests share. */
import type { MemoryCluster } from '@tailrace/kafka/testing';
import { urlOf, type ServiceHere } from '@tailrace/service/testing';
import { sharedBroker } from '../kafka/broker.ts';
import { openKafka } from '../kafka/kafka-client.ts';
import { createTopics, uniquePrefix } from '../kafka/topics.ts';
import { secretKey, startControlHere, type ControlApi } from './control.ts';
import { startServiceHere, type ServiceName } from './here.ts';
import type { Environment } from './process.ts';
import { startRoundRobin } from './round-robin.ts';

export interface Installation extends AsyncDisposable {
  /** For commands that use Kafka directly. */
  readonly env: Environment;
  readonly ingestUrl: string;
  /** Each request is answered by the next instance of control. */
  readonly controlUrl: string;
  readonly controls: readonly ControlApi[];
}

export interface InstallationOptions {
  /** Default: real Kafka. */
  readonly cluster?: MemoryCluster;
  /** Instances of control. */
  readonly controls?: number;
}

export async function startInstallation({
  cluster,
  controls: count = 1,
}: InstallationOptions = {}): Promise<Installation> {
  await using started = new AsyncDisposableStack();
  const brokers = cluster ? ['memory:9092'] : (await sharedBroker()).brokers;
  const prefix = uniquePrefix();
  const env: Environment = {
    KAFKA_BROKERS: brokers.join(','),
    TAILRACE_TOPIC_PREFIX: prefix,
    TAILRACE_PARTITIONS: '2',
    TAILRACE_RETRY_SCHEDULE: '1s,2s',
    TAILRACE_SECRET_KEY: secretKey,
  };
  {
    await using kafka = cluster ? cluster.connect() : openKafka(brokers);
    const topics = { partitions: 2, retryScheduleMs: [1_000, 2_000] };
    await createTopics(kafka, prefix, topics);
  }
  const networks = { TAILRACE_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8,::1/128' };
  const start = async (name: ServiceName): Promise<ServiceHere> =>
    started.use(
      await startServiceHere(name, { ...env, ...networks, TAILRACE_INGEST_PORT: '0' }, { cluster }),
    );
  const ingestUrl = urlOf(await start('ingest'));
  await start('router');
  await start('delivery');
  const controls: ControlApi[] = [];
  while (controls.length < count) {
    const own = { ...env, TAILRACE_INGEST_PUBLIC_URL: ingestUrl };
    controls.push(started.use(await startControlHere(cluster ?? brokers, prefix, own)));
  }
  const { url: controlUrl } = started.use(await startRoundRobin(controls.map(({ url }) => url)));
  const all = started.move();
  return { env, ingestUrl, controlUrl, controls, [Symbol.asyncDispose]: () => all.disposeAsync() };
}
