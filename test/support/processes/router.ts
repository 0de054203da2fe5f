/** A router on real Kafka, with one source connected to one destination, and its output. */
import { applyConfiguration } from '@tailrace/config';
import type { Kafka } from '@tailrace/kafka';
import type { ServiceHere } from '@tailrace/service/testing';
import type { TopicNames } from '@tailrace/topology';
import { sharedBroker } from '../kafka/broker.ts';
import { openKafka } from '../kafka/kafka-client.ts';
import { createTopics, uniquePrefix, watchTopic, type WatchedTopic } from '../kafka/topics.ts';
import { startServiceHere } from './here.ts';
import { startService, type Environment, type ServiceProcess } from './process.ts';

export interface WatchedRouter<Service extends ServiceHere = ServiceHere> extends AsyncDisposable {
  readonly brokers: readonly string[];
  readonly kafka: Kafka;
  readonly names: TopicNames;
  readonly service: Service;
  readonly deliveries: WatchedTopic;
  readonly rejected: WatchedTopic;
}

/** In the process of the test. The source is `web` with the write key `wk_web`, its destination `crm`. */
export function startWatchedRouter(partitions: number, env: Environment = {}): Promise<WatchedRouter> {
  return open(partitions, env, startServiceHere);
}

/** As a process: to measure its memory. */
export function startWatchedRouterProcess(
  partitions: number,
  env: Environment = {},
): Promise<WatchedRouter<ServiceProcess>> {
  return open(partitions, env, startService);
}

async function open<Service extends ServiceHere>(
  partitions: number,
  env: Environment,
  start: (name: 'router', env: Environment) => Promise<Service>,
): Promise<WatchedRouter<Service>> {
  await using started = new AsyncDisposableStack();
  const { brokers } = await sharedBroker();
  const kafka = started.use(openKafka(brokers));
  const prefix = uniquePrefix();
  const names = await createTopics(kafka, prefix, { partitions, retryScheduleMs: [1_000] });
  await applyConfiguration(kafka, names.config, {
    sources: [{ id: 'web', writeKeys: ['wk_web'], enabled: true }],
    destinations: [
      {
        id: 'crm',
        type: 'Webhooks',
        enabled: true,
        sources: ['web'],
        settings: { webhooks: [{ url: 'https://hooks.example/hook' }] },
      },
    ],
  });
  const environment = {
    KAFKA_BROKERS: brokers.join(','),
    TAILRACE_TOPIC_PREFIX: prefix,
    TAILRACE_METRICS_PORT: '0',
    ...env,
  };
  const service = started.use(await start('router', environment));
  const deliveries = started.use(await watchTopic(kafka, names.deliveries));
  const rejected = started.use(await watchTopic(kafka, names.eventsRejected));
  const all = started.move();
  return {
    brokers,
    kafka,
    names,
    service,
    deliveries,
    rejected,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}
