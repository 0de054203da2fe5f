/** Routers in the process of a test, on an in-memory cluster, with one source and its destination. */
import { applyConfiguration, type Configuration } from '@tailrace/config';
import type { Kafka, OutgoingRecord } from '@tailrace/kafka';
import { MemoryCluster, watchTopic, type WatchedTopic } from '@tailrace/kafka/testing';
import { startHere, type ServiceHere } from '@tailrace/service/testing';
import { topicNames, topicSpecs } from '@tailrace/topology';
import { router } from '../open.ts';

export const names = topicNames('tailrace.');
export const groupId = 'tailrace.router';

export interface Stage extends AsyncDisposable {
  readonly cluster: MemoryCluster;
  readonly kafka: Kafka;
  /** The first router. */
  readonly router: ServiceHere;
  readonly deliveries: WatchedTopic;
  readonly rejected: WatchedTopic;
  /** Starts another router, which ends with the stage. */
  start(): Promise<ServiceHere>;
  /** Writes a record to `events`. */
  publish(record: Omit<OutgoingRecord, 'topic'>): Promise<void>;
}

export interface StageOptions {
  readonly partitions?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Default: {@link toCrm} from the source `web`. */
  readonly configuration?: Configuration;
}

export const toCrm: Configuration = toDestination('web', 'crm');

/** A source with the write key `wk_<source>` and one destination. */
export function toDestination(source: string, destination: string): Configuration {
  const settings = { webhooks: [{ url: 'https://hooks.example/hook' }] };
  return {
    sources: [{ id: source, writeKeys: [`wk_${source}`], enabled: true }],
    destinations: [{ id: destination, type: 'Webhooks', enabled: true, sources: [source], settings }],
  };
}

export async function openStage({
  partitions = 1,
  env = {},
  configuration = toCrm,
}: StageOptions = {}): Promise<Stage> {
  await using opened = new AsyncDisposableStack();
  const cluster = new MemoryCluster();
  const kafka = opened.use(cluster.connect());
  await kafka.ensureTopics(topicSpecs(names, { partitions, retryScheduleMs: [1_000] }));
  await applyConfiguration(kafka, names.config, configuration);
  const publisher = kafka.publisher();
  const deliveries = opened.use(await watchTopic(kafka, names.deliveries));
  const rejected = opened.use(await watchTopic(kafka, names.eventsRejected));
  const routers = opened.use(new AsyncDisposableStack());
  const start = async (): Promise<ServiceHere> =>
    routers.use(
      await startHere(
        router,
        { KAFKA_BROKERS: 'memory:9092', ...env },
        { connect: (_config, log, observer) => cluster.connect(log, observer) },
      ),
    );
  const first = await start();
  const all = opened.move();
  return {
    cluster,
    kafka,
    router: first,
    deliveries,
    rejected,
    start,
    publish: (record) => publisher.publish({ topic: names.events, ...record }),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}
