/** A router that is killed and started again: nothing is lost, and repeats are recognised from the topic alone. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { applyConfiguration, type Configuration } from '@tailrace/config';
import { readCall } from '@tailrace/events';
import type { ConsumedRecord, Publisher } from '@tailrace/kafka';
import { frame, startFaultyRegistry, type FaultyRegistry } from '@tailrace/registry/testing';
import type { TopicNames } from '@tailrace/topology';
import { sharedBroker } from '../support/kafka/broker.ts';
import { connectAdmin, type KafkaAdmin } from '../support/kafka/kafka-admin.ts';
import { eventually } from '@tailrace/testing';
import { openKafka, type TestKafka } from '../support/kafka/kafka-client.ts';
import { startServiceHere } from '../support/processes/here.ts';
import { startService, type Environment, type ServiceProcess } from '../support/processes/process.ts';
import {
  createTopics,
  headerOf,
  uniquePrefix,
  watchTopic,
  type WatchedTopic,
} from '../support/kafka/topics.ts';

const partitions = 3;

const configuration = (sourceId: string): Configuration => ({
  sources: [{ id: sourceId, writeKeys: [`wk_${sourceId}`], enabled: true }],
  destinations: [
    {
      id: `to-${sourceId}`,
      type: 'Webhooks' as const,
      enabled: true,
      sources: [sourceId],
      settings: { webhooks: [{ url: 'https://hooks.example/hook' }] },
    },
  ],
});

let kafka: TestKafka;
let registry: FaultyRegistry;
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
  kafka = opened.use(openKafka(brokers));
  registry = opened.use(await startFaultyRegistry());
  admin = opened.use(await connectAdmin(brokers));
  prefix = uniquePrefix();
  names = await createTopics(kafka, prefix, { partitions, retryScheduleMs: [1_000] });
  await applyConfiguration(kafka, names.config, configuration('web'));
  publisher = kafka.publisher();
  environment = {
    KAFKA_BROKERS: brokers.join(','),
    TAILRACE_TOPIC_PREFIX: prefix,
    TAILRACE_METRICS_PORT: '0',
    SCHEMA_REGISTRY_URL: registry.url,
  };
  router = opened.use(await startService('router', environment));
  deliveries = opened.use(await watchTopic(kafka, names.deliveries));
});
after(() => opened.disposeAsync());

interface Sent {
  readonly key: string;
  readonly value: string | Buffer;
  readonly headers: Record<string, string>;
  readonly messageId: string;
}

/** A call as ingest writes it, or in one of the forms of a direct producer; the content is the same. */
function call(messageId: string, form = 0): Sent {
  const userId = `user-${messageId}`;
  // The ids of some cannot be read back without parsing.
  const properties = messageId.endsWith('7') ? { messageId: 'other' } : { a: 1 };
  const reading = readCall(
    { messageId, userId, properties },
    { type: 'page', receivedAt: Date.now(), fallbackMessageId: () => '' },
  );
  assert.ok(reading.ok);
  const bySource = { 'source-id': 'web' };
  const byKey = { 'write-key': 'wk_web' };
  const forms = [
    { headers: bySource, value: JSON.stringify(reading.event) },
    { headers: byKey, value: JSON.stringify({ properties, userId, messageId, type: 'page' }) },
    {
      headers: {},
      value: JSON.stringify({ type: 'page', writeKey: 'wk_web', userId, messageId, properties }),
    },
    {
      headers: bySource,
      value: JSON.stringify({ type: 'page', messageId, userId, properties, _metadata: {} }),
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

test('3.4 3.5 after a kill -9, a routed call that is sent again is dropped, and a rejected one is routed', async () => {
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
  await using other = await startServiceHere('router', environment);
  await other.log.find(({ msg }) => msg === 'message ids read back');
  await send(calls);
  const routed = await routedUpTo('after-the-move');
  assert.equal(countOf(eventIds(routed), new Set(calls.map(({ messageId }) => messageId))), calls.length);
});

test('a router that is killed and started again loses no event, and repeats deliveries with the same ids', async () => {
  const calls = Array.from({ length: 2_000 }, (_, index) => call(`routed-${index}`));
  const sent = send(calls);
  const isOurs = (record: ConsumedRecord): boolean =>
    headerOf(record, 'event-id')?.startsWith('routed-') === true;
  await deliveries.find(isOurs);
  await router.kill();
  await router.restart();
  await sent;
  const byEvent = (records: readonly ConsumedRecord[]): Map<string | undefined, ConsumedRecord[]> =>
    Map.groupBy(records.filter(isOurs), (record) => headerOf(record, 'event-id'));
  const all = await deliveries.waitFor((records) => byEvent(records).size === calls.length);
  for (const [eventId, found] of byEvent(all)) {
    assert.equal(new Set(found.map((record) => headerOf(record, 'delivery-id'))).size, 1, eventId);
  }
});

test('records that wait for a schema stay in order where the router is killed', async () => {
  const [users, rounds, schemaId] = [300, 5, 7];
  const total = users * rounds;
  const ofRound = (round: number): Sent[] =>
    Array.from({ length: users }, (_, user) => {
      const sent = call(`waiting-${user}`);
      const value = { type: 'page', userId: sent.key, messageId: `waiting-${round}-${user}` };
      const text = JSON.stringify(value);
      return { ...sent, value: round % 2 === 0 ? frame(schemaId, value) : text };
    });
  const waiting = async (): Promise<number> =>
    [...(await kafka.offsetsAt(names.eventsWaiting, Date.now() + 3_600_000)).values()].reduce(
      (a, b) => a + b,
    );
  registry.shut();
  for (let round = 0; round < rounds; round += 1) {
    await send(ofRound(round));
    if (round !== 2) continue;
    // While records are moved to events.waiting.
    await eventually(waiting, (count) => count >= total / 4);
    await router.kill();
    await router.restart();
  }
  await eventually(waiting, (count) => count >= total);
  const idsOf = (records: readonly ConsumedRecord[]): string[] =>
    eventIds(records).filter((id) => id.startsWith('waiting-'));
  await deliveries.refresh();
  assert.deepEqual(idsOf(deliveries.items), []);

  registry.open();
  // While the waiting records are routed.
  await deliveries.waitFor((records) => idsOf(records).length >= total / 3);
  await router.kill();
  await router.restart();
  const all = await deliveries.waitFor((records) => new Set(idsOf(records)).size === total);
  const byUser = Map.groupBy(new Set(idsOf(all)), (id) => id.split('-')[2]);
  for (const [user, ids] of byUser) assert.deepEqual(ids, ids.toSorted(), user);
});
