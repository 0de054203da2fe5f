/** A router in the process of the test, with one source connected to one destination, and its output. */
import { applyConfiguration } from '@tailrace/config';
import type { Kafka } from '@tailrace/kafka';
import type { ServiceHere } from '@tailrace/service/testing';
import type { TopicNames } from '@tailrace/topics';
import { sharedBroker } from '../kafka/broker.ts';
import { openKafka } from '../kafka/kafka-client.ts';
import { startServiceHere } from './here.ts';
import type { Environment } from './process.ts';
import { createTopics, uniquePrefix, watchTopic, type WatchedTopic } from '../kafka/topics.ts';

export interface TestRouter extends AsyncDisposable {
  readonly brokers: readonly string[];
  readonly kafka: Kafka;
  readonly names: TopicNames;
  readonly service: ServiceHere;
  readonly environment: Environment;
}

export interface WatchedRouter extends TestRouter {
  readonly deliveries: WatchedTopic;
  readonly rejected: WatchedTopic;
}

/** The source is `web` with the write key `wk_web`, its destination `crm`. */
export async function startRouter(partitions: number, env: Environment = {}): Promise<TestRouter> {
  await using started = new AsyncDisposableStack();
  const { brokers } = await sharedBroker();
  const kafka = started.use(openKafka(brokers));
  const prefix = uniquePrefix();
  const names = await createTopics(kafka, prefix, { partitions, retryScheduleMs: [1_000] });
  await applyConfiguration(kafka, names.config, {
    sources: [{ id: 'web', writeKeys: ['wk_web'], enabled: true }],
    destinations: [
      {
        ...{ id: 'crm', type: 'Webhooks', enabled: true, sources: ['web'] },
        settings: { webhooks: [{ url: 'https://hooks.example/hook' }] },
      },
    ],
  });
  const environment = { KAFKA_BROKERS: brokers.join(','), TAILRACE_TOPIC_PREFIX: prefix, ...env };
  const service = started.use(await startServiceHere('router', environment));
  const all = started.move();
  return { brokers, kafka, names, service, environment, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** A router whose deliveries and rejected records are collected. */
export async function startWatchedRouter(partitions: number, env: Environment = {}): Promise<WatchedRouter> {
  await using started = new AsyncDisposableStack();
  const router = started.use(await startRouter(partitions, env));
  const deliveries = started.use(await watchTopic(router.kafka, router.names.deliveries));
  const rejected = started.use(await watchTopic(router.kafka, router.names.eventsRejected));
  const all = started.move();
  return { ...router, deliveries, rejected, [Symbol.asyncDispose]: () => all.disposeAsync() };
}
