/** Ingest in the process of a test, on an in-memory cluster. */
import { applyConfiguration, type Source } from '@tailrace/config';
import type { Kafka } from '@tailrace/kafka';
import { headerOf, MemoryCluster, watchTopic, type WatchedTopic } from '@tailrace/kafka/testing';
import { probesUrlOf, startHere, urlOf, type ServiceHere } from '@tailrace/service/testing';
import { topicNames, topicSpecs } from '@tailrace/topology';
import { ingest } from '../open.ts';

export const names = topicNames('tailrace.');

export interface RunningIngest extends AsyncDisposable {
  readonly service: ServiceHere;
  readonly url: string;
  /** The text of `/metrics`. */
  metrics(): Promise<string>;
}

export interface Stage extends RunningIngest {
  readonly cluster: MemoryCluster;
  readonly kafka: Kafka;
  readonly events: WatchedTopic;
  /** Invalid calls of accepted batches. */
  readonly rejected: WatchedTopic;
  /** The sample of refused calls. */
  readonly refused: WatchedTopic;
  /** Starts another ingest on the same topics. */
  start(env?: Environment): Promise<RunningIngest>;
}

type Environment = Readonly<Record<string, string>>;

export interface StageOptions {
  readonly env?: Environment;
  /** Default: `web` with the write key `wk_web`, and `other` with `wk_other`. */
  readonly sources?: readonly Source[];
}

const twoSources = ['web', 'other'].map((id) => ({ id, writeKeys: [`wk_${id}`], enabled: true }));

export async function openStage({ env = {}, sources = twoSources }: StageOptions = {}): Promise<Stage> {
  await using opened = new AsyncDisposableStack();
  const cluster = new MemoryCluster();
  const kafka = opened.use(cluster.connect());
  await kafka.ensureTopics(topicSpecs(names, { partitions: 2, retryScheduleMs: [1_000] }));
  await applyConfiguration(kafka, names.config, { sources: [...sources], destinations: [] });
  const events = opened.use(await watchTopic(kafka, names.events));
  const watchRejected = async (isRefused: boolean): Promise<WatchedTopic> =>
    opened.use(
      await watchTopic(
        kafka,
        names.eventsRejected,
        (record) => (headerOf(record, 'status') !== undefined) === isRefused,
      ),
    );
  const rejected = await watchRejected(false);
  const refused = await watchRejected(true);
  const start = (env?: Environment): Promise<RunningIngest> => startIngest(cluster, env);
  const first = opened.use(await start(env));
  const all = opened.move();
  return {
    ...first,
    cluster,
    kafka,
    events,
    rejected,
    refused,
    start,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

async function startIngest(cluster: MemoryCluster, env: Environment = {}): Promise<RunningIngest> {
  const service = await startHere(
    ingest,
    { KAFKA_BROKERS: 'memory:9092', TAILRACE_INGEST_PORT: '0', ...env },
    { connect: (_config, log, observer) => cluster.connect(log, observer) },
  );
  return {
    service,
    url: urlOf(service),
    metrics: async () => (await fetch(`${probesUrlOf(service)}/metrics`)).text(),
    [Symbol.asyncDispose]: () => service.stop(),
  };
}
