/** Repeats after a restart of the router, which recognises them from the topic alone. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { applyConfiguration, type Configuration } from '@tailrace/config';
import { connectKafka, type ConsumedRecord, type Kafka, type Publisher } from '@tailrace/kafka';
import type { TopicNames } from '@tailrace/topics';
import { sharedBroker } from '../support/kafka/broker.ts';
import { connectAdmin, type KafkaAdmin } from '../support/kafka/kafka-admin.ts';
import { eventually } from '@tailrace/testing';
import { startService, type Environment, type ServiceProcess } from '../support/processes/process.ts';
import {
  createTopics,
  headerOf,
  uniquePrefix,
  watchTopic,
  type WatchedTopic,
} from '../support/kafka/topics.ts';

const ignore = (): void => undefined;
const quiet = { debug: ignore, info: ignore, warn: ignore, error: ignore };
const partitions = 3;

const configuration = (sourceId: string): Configuration => ({
  sources: [{ id: sourceId, writeKeys: [`wk_${sourceId}`], enabled: true }],
  destinations: [
    {
      ...{ id: `to-${sourceId}`, type: 'Webhooks' as const, enabled: true, sources: [sourceId] },
      settings: { webhooks: [{ url: 'https://hooks.example/hook' }] },
    },
  ],
});

let kafka: Kafka;
let admin: KafkaAdmin;
let names: TopicNames;
let prefix: string;
let publisher: Publisher;
let environment: Environment;
let router: ServiceProcess;
let deliveries: WatchedTopic;
const opened = new AsyncDisposableStack();

before(async () => {
  const { brokers } = await sharedBroker();
  kafka = connectKafka({ brokers, clientId: 'dedupe-test' }, quiet);
  opened.defer(() => kafka.close());
  admin = opened.use(await connectAdmin(brokers));
  prefix = uniquePrefix();
  names = await createTopics(kafka, prefix, { partitions, retryScheduleMs: [1_000] });
  await applyConfiguration(kafka, names.config, configuration('web'));
  publisher = kafka.publisher();
  environment = {
    KAFKA_BROKERS: brokers.join(','),
    TAILRACE_TOPIC_PREFIX: prefix,
    TAILRACE_METRICS_PORT: '0',
  };
  router = opened.use(await startService('router', environment));
  deliveries = opened.use(await watchTopic(kafka, names.deliveries));
});
after(() => opened.disposeAsync());

interface Sent {
  readonly key: string;
  readonly value: string;
  readonly headers: Record<string, string>;
  readonly messageId: string;
}

/** A call as ingest writes it, or in one of the forms of a direct producer. */
function call(messageId: string, form = 0): Sent {
  const userId = `user-${messageId}`;
  const bySource = { 'source-id': 'web' };
  const byKey = { 'write-key': 'wk_web' };
  const forms = [
    { headers: bySource, value: JSON.stringify({ type: 'page', messageId, userId, properties: { a: 1 } }) },
    { headers: byKey, value: JSON.stringify({ userId, messageId, type: 'page' }) },
    { headers: {}, value: JSON.stringify({ type: 'page', writeKey: 'wk_web', userId, messageId }) },
    {
      headers: bySource,
      value: JSON.stringify({ type: 'page', messageId, userId, properties: { messageId: 'other' } }),
    },
  ];
  const { headers, value } = forms[form % forms.length] as Pick<Sent, 'headers' | 'value'>;
  return { key: userId, value, headers, messageId };
}

function send(calls: readonly Sent[]): Promise<unknown> {
  return Promise.all(
    calls.map(({ key, value, headers }) => publisher.publish({ topic: names.events, key, value, headers })),
  );
}

const eventIds = (records: readonly ConsumedRecord[]): string[] =>
  records.map((record) => headerOf(record, 'event-id') ?? '');

/** Resolves once all calls are routed and their offsets committed. */
async function settled(): Promise<void> {
  const ends = await kafka.offsetsAt(names.events, Date.now() + 3_600_000);
  await eventually(
    () => admin.committed(`${prefix}router`, names.events),
    (offsets) => offsets.every((offset, partition) => Math.max(offset, 0) === ends.get(partition)),
  );
}

/** Sends a last call to every partition, and resolves once these are routed. */
async function routedUpTo(name: string): Promise<readonly ConsumedRecord[]> {
  const markers = Array.from({ length: partitions * 8 }, (_, index) => call(`${name}-${index}`));
  await send(markers);
  return deliveries.waitFor((records) => {
    const ids = new Set(eventIds(records));
    return markers.every(({ messageId }) => ids.has(messageId));
  });
}

const countOf = (ids: readonly string[], wanted: ReadonlySet<string>): number =>
  ids.filter((id) => wanted.has(id)).length;

test('after a kill -9, a routed call that is sent again is dropped, and a rejected one is routed', async () => {
  const calls = Array.from({ length: 400 }, (_, index) => call(`killed-${index}`, index));
  const early = { ...call('early'), headers: { 'source-id': 'late-source' } };
  await send([...calls, early]);
  await settled();
  await router.kill();
  await applyConfiguration(kafka, names.config, configuration('late-source'));
  const repeats = calls.map(({ messageId }, index) => call(messageId, index + 1));
  await send(repeats.slice(0, 200));
  await router.restart();
  await send([...repeats.slice(200), early, early]);
  const routed = eventIds(await routedUpTo('after-the-kill'));
  assert.equal(countOf(routed, new Set(calls.map(({ messageId }) => messageId))), calls.length);
  assert.equal(countOf(routed, new Set(['early'])), 1);
});

test('another router that takes over partitions recognises their routed calls', async () => {
  const calls = Array.from({ length: 200 }, (_, index) => call(`moved-${index}`, index));
  await send(calls);
  await settled();
  await using other = await startService('router', environment);
  await other.log.find(({ msg }) => msg === 'message ids read back');
  await send(calls);
  const routed = await routedUpTo('after-the-move');
  assert.equal(countOf(eventIds(routed), new Set(calls.map(({ messageId }) => messageId))), calls.length);
});
