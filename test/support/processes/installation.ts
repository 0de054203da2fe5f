/** Ingest, router, delivery and control in the process of the test, on an in-memory cluster or on the Kafka that all tests share. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connectKafka } from '@tailrace/kafka';
import type { MemoryCluster } from '@tailrace/kafka/testing';
import { startHere, type HereOptions, type LogLine, type ServiceHere } from '@tailrace/service/testing';
import { control } from '../../../services/control/src/open.ts';
import { adminToken, readToken, secretKey } from '../../../services/control/src/testing/api.ts';
import { delivery } from '../../../services/delivery/src/open.ts';
import { ingest } from '../../../services/ingest/src/open.ts';
import { router } from '../../../services/router/src/open.ts';
import { sharedBroker } from '../kafka/broker.ts';
import { openKafka } from '../kafka/kafka-client.ts';
import { createTopics, uniquePrefix } from '../kafka/topics.ts';
import type { Environment } from './process.ts';
import { startRoundRobin } from './round-robin.ts';

export interface Installation extends AsyncDisposable {
  /** For commands that use Kafka directly. */
  readonly env: Environment;
  readonly ingestUrl: string;
  /** Each request is answered by the next instance of control. */
  readonly controlUrl: string;
  readonly controls: readonly Listening[];
}

interface Listening {
  readonly url: string;
  readonly probesUrl: string;
}

type Start = (env: Environment, options: HereOptions) => Promise<ServiceHere>;

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
  const env: Environment = {
    KAFKA_BROKERS: brokers.join(','),
    TAILRACE_TOPIC_PREFIX: uniquePrefix(),
    TAILRACE_PARTITIONS: '2',
    TAILRACE_RETRY_SCHEDULE: '1s,2s',
    TAILRACE_SECRET_KEY: secretKey,
  };
  {
    await using kafka = cluster ? cluster.connect() : openKafka(brokers);
    const topics = { partitions: 2, retryScheduleMs: [1_000, 2_000] };
    await createTopics(kafka, env['TAILRACE_TOPIC_PREFIX'] ?? '', topics);
  }
  const folder = await mkdtemp(path.join(tmpdir(), 'tailrace-installation-'));
  started.defer(() => rm(folder, { recursive: true, force: true }));

  const start = async (service: Start, own: Environment): Promise<Listening> => {
    const ports: Record<string, unknown> = {};
    const connect: typeof connectKafka = cluster
      ? (_settings, log, observer) => cluster.connect(log, observer)
      : connectKafka;
    const onLine = ({ msg, port, metricsPort }: LogLine): void => {
      if (msg === 'ready') ports['url'] = port;
      if (msg === 'starting') ports['probesUrl'] = metricsPort;
    };
    const networks = { TAILRACE_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8,::1/128' };
    const running = await service({ ...env, ...networks, ...own }, { connect, onLine });
    started.defer(() => running.stop());
    const at = (name: string): string => `http://127.0.0.1:${String(ports[name])}`;
    return { url: at('url'), probesUrl: at('probesUrl') };
  };
  const { url: ingestUrl } = await start((own, options) => startHere(ingest, own, options), {
    TAILRACE_INGEST_PORT: '0',
  });
  await start((own, options) => startHere(router, own, options), {});
  await start((own, options) => startHere(delivery, own, options), {});
  const controls: Listening[] = [];
  while (controls.length < count) {
    controls.push(
      await start((own, options) => startHere(control, own, options), {
        TAILRACE_CONTROL_PORT: '0',
        TAILRACE_DATA_DIR: path.join(folder, String(controls.length)),
        TAILRACE_API_TOKEN: adminToken,
        TAILRACE_API_READ_TOKEN: readToken,
        // Tests send requests as fast as they can.
        TAILRACE_API_RATE_LIMIT: '100000',
        TAILRACE_INGEST_PUBLIC_URL: ingestUrl,
      }),
    );
  }
  const { url: controlUrl } = started.use(await startRoundRobin(controls.map(({ url }) => url)));
  const all = started.move();
  return { env, ingestUrl, controlUrl, controls, [Symbol.asyncDispose]: () => all.disposeAsync() };
}
