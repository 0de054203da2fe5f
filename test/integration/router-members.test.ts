/** Routers that join and leave, and the partitions that move. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { applyConfiguration } from '@tailrace/config';
import type { Publisher } from '@tailrace/kafka';
import type { ServiceHere } from '@tailrace/service/testing';
import type { TopicNames } from '@tailrace/topology';
import { sharedBroker } from '../support/kafka/broker.ts';
import { frame, startFaultyRegistry, type FaultyRegistry } from '../support/kafka/registry.ts';
import { connectAdmin, type KafkaAdmin } from '../support/kafka/kafka-admin.ts';
import { eventually } from '@tailrace/testing';
import { openKafka, type TestKafka } from '../support/kafka/kafka-client.ts';
import { startServiceHere } from '../support/processes/here.ts';
import { startService, type Environment } from '../support/processes/process.ts';
import { createTopics, headerOf, readAll, uniquePrefix } from '../support/kafka/topics.ts';

const partitions = 6;
const schemaId = 7;

let kafka: TestKafka;
let admin: KafkaAdmin;
let publisher: Publisher;
let registry: FaultyRegistry;
let brokers: readonly string[];
let prefix: string;
let names: TopicNames;
let environment: Environment;
const opened = new AsyncDisposableStack();

before(async () => {
  ({ brokers } = await sharedBroker());
  kafka = opened.use(openKafka(brokers));
  admin = opened.use(await connectAdmin(brokers));
  registry = opened.use(await startFaultyRegistry());
  publisher = kafka.publisher();
});
after(() => opened.disposeAsync());

beforeEach(async () => {
  prefix = uniquePrefix();
  names = await createTopics(kafka, prefix, { partitions, retryScheduleMs: [1_000] });
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
  environment = {
    KAFKA_BROKERS: brokers.join(','),
    TAILRACE_TOPIC_PREFIX: prefix,
    SCHEMA_REGISTRY_URL: registry.url,
  };
});

/** Writes one call to every partition; resolves when Kafka has acknowledged them. */
async function writeToAll(name: string, schema?: number): Promise<void> {
  const writes = Array.from({ length: partitions }, (_, partition) => {
    const userId = `u${partition}`;
    const call = { type: 'page', userId, messageId: `${name}-${partition}` };
    const value = schema === undefined ? JSON.stringify(call) : frame(schema, call);
    const headers = { 'source-id': 'web' };
    return publisher.publish({ topic: names.events, partition, key: userId, value, headers });
  });
  await Promise.all(writes);
}

const deliveredIds = async (): Promise<string[]> =>
  (await readAll(kafka, names.deliveries)).map((record) => headerOf(record, 'event-id') ?? '');

async function untilDelivered(name: string): Promise<void> {
  await eventually(
    async () => (await deliveredIds()).filter((id) => id.startsWith(`${name}-`)),
    (ids) => new Set(ids).size === partitions,
  );
}

const untilCommitted = (): Promise<unknown> =>
  eventually(
    () => admin.committed(`${prefix}router`, names.events),
    (offsets) => offsets.every((offset) => offset > 0),
  );

/** The number of partitions of each rebuild of a router. */
const readBack = ({ log }: ServiceHere): unknown[] =>
  log.items.filter(({ msg }) => msg === 'message ids read back').map(({ partitions }) => partitions);

const untilReadBack = (router: ServiceHere, times: readonly number[]): Promise<unknown> =>
  eventually(
    () => readBack(router),
    (found) => JSON.stringify(found) === JSON.stringify(times),
  );

test('with two and three routers, each reads back only the partitions that moved to it', async () => {
  registry.answers(() => 200);
  await using first = await startServiceHere('router', environment);
  await writeToAll('before');
  await untilDelivered('before');
  await untilCommitted();

  await using second = await startServiceHere('router', environment);
  await untilReadBack(second, [3]);
  await using third = await startServiceHere('router', environment);
  await untilReadBack(third, [2]);
  assert.deepEqual([readBack(first), readBack(second)], [[], [3]]);

  await writeToAll('shared');
  await untilDelivered('shared');
  await third.stop();
  await untilReadBack(first, [1]);
  await untilReadBack(second, [3, 1]);
  await writeToAll('after');
  await untilDelivered('after');
});

test('a router that takes over a partition knows which keys wait in it', async () => {
  registry.answers(() => 500);
  await using first = await startService('router', { ...environment, TAILRACE_METRICS_PORT: '0' });
  await writeToAll('1-framed', schemaId);
  await eventually(
    async () => (await readAll(kafka, names.eventsWaiting)).length,
    (count) => count === partitions,
  );
  await using second = await startServiceHere('router', environment);
  await untilReadBack(second, [3]);
  await writeToAll('2-plain');
  await eventually(
    async () => (await readAll(kafka, names.eventsWaiting)).length,
    (count) => count === 2 * partitions,
  );
  await first.kill();
  registry.answers(() => 200);
  await untilDelivered('1-framed');
  await untilDelivered('2-plain');
  const records = await readAll(kafka, names.deliveries);
  for (let partition = 0; partition < partitions; partition += 1) {
    const ids = records
      .filter(({ key }) => key?.toString() === `crm/u${partition}`)
      .map((record) => headerOf(record, 'event-id'));
    assert.deepEqual([...new Set(ids)], [`1-framed-${partition}`, `2-plain-${partition}`]);
  }
});
