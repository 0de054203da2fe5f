/** The client library against the pipeline: each kind of call arrives, over HTTP and straight into Kafka, in order. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  Analytics,
  verifySignature,
  type AnalyticsError,
  type KafkaProducer,
} from '../../packages/analytics-node/src/index.ts';
import { sharedBroker } from '../support/kafka/broker.ts';
import { startPipeline } from '../support/processes/pipeline.ts';
import { startReceiver } from '../support/receivers/receiver.ts';

const opened = new AsyncDisposableStack();
after(() => opened.disposeAsync());
const pipeline = opened.use(await startPipeline());
const sharedSecret = 's3cret';

interface Body {
  readonly type: string;
  readonly event?: string;
  readonly userId?: string;
  readonly timestamp: string;
  readonly context: { readonly library?: { readonly name?: string } };
}

async function connectProducer(): Promise<KafkaProducer> {
  // Not before packages/kafka, which replaces modules of it.
  const { Kafka, logLevel } = await import('kafkajs');
  const { brokers } = await sharedBroker();
  const producer = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING }).producer();
  await producer.connect();
  opened.defer(() => producer.disconnect());
  return producer;
}

const ways = {
  'over HTTP': () => ({ endpoint: pipeline.ingestUrl }),
  'over HTTP, with gzip': () => ({ endpoint: pipeline.ingestUrl, gzip: true }),
  'straight into Kafka': async () => ({
    kafka: { producer: await connectProducer(), topic: pipeline.names.events },
  }),
};

for (const [name, way] of Object.entries(ways)) {
  test(`each kind of call arrives ${name}, signed`, async () => {
    const receiver = opened.use(await startReceiver());
    const { writeKey } = await pipeline.connect({ webhooks: [{ url: receiver.url }], sharedSecret });
    const reported: AnalyticsError[] = [];
    const client = new Analytics({ writeKey, ...(await way()), onError: (error) => reported.push(error) });
    const userId = 'ada';
    const timestamp = '2014-02-03T04:05:06.789Z';
    client.identify({ userId, traits: { email: 'ada@example.com' } });
    client.track({
      userId,
      event: 'Order Completed',
      properties: { total: 12.5 },
      integrations: { Webhooks: true },
    });
    client.track({ userId, event: 'Not For Webhooks', integrations: { All: false } });
    client.page({ userId, name: 'Docs', category: 'Help', properties: { path: '/docs' } });
    client.screen({ anonymousId: 'anonymous-7', name: 'Start' });
    client.group({ userId, groupId: 'acme', traits: { name: 'Acme' } });
    client.alias({ userId, previousId: 'anonymous-7', timestamp });
    assert.deepEqual([await client.close({ deadlineMs: 60_000 }), reported], [{ unsent: 0, kept: 0 }, []]);

    const requests = await receiver.waitFor(6);
    for (const { headers, body } of requests) {
      assert.equal(verifySignature(sharedSecret, body, headers['x-signature']), true);
    }
    const bodies = new Map(
      requests.map((request) => [(request.json() as Body).type, request.json() as Body]),
    );
    const fields = (type: string): object => {
      const { context, timestamp, ...rest } = bodies.get(type) ?? assert.fail(type);
      assert.equal(context.library?.name, 'analytics-node');
      assert.match(timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      return rest;
    };
    const expected = {
      identify: { userId, traits: { email: 'ada@example.com' } },
      track: { userId, event: 'Order Completed', properties: { total: 12.5 } },
      page: { userId, properties: { path: '/docs', name: 'Docs', category: 'Help' } },
      screen: { anonymousId: 'anonymous-7', name: 'Start', properties: { name: 'Start' } },
      group: { userId, groupId: 'acme', traits: { name: 'Acme' } },
      alias: { 'Previous ID': 'anonymous-7', 'User ID': userId },
    };
    for (const [type, rest] of Object.entries(expected)) {
      assert.deepEqual(fields(type), { version: 1, type, ...rest });
    }
    assert.equal(bodies.get('alias')?.timestamp, timestamp, 'an import keeps its time');
    assert.equal(receiver.requests.length, 6, 'each arrives once, and only those that are routed');
  });
}

test('an anonymous user becomes a known one in the order in which it was said', async () => {
  const receiver = opened.use(await startReceiver());
  const { writeKey, destinationId } = await pipeline.connect({ webhooks: [{ url: receiver.url }] });
  const client = new Analytics({ writeKey, endpoint: pipeline.ingestUrl });
  const [previousId, userId] = ['old-id', 'new-id'];
  client.track({ userId: previousId, event: 'Cart Filled' });
  client.alias({ userId, previousId });
  client.identify({ userId, traits: { plan: 'pro' } });
  client.track({ userId, event: 'Order Completed' });
  await client.close({ deadlineMs: 60_000 });
  await receiver.waitFor(4);
  // Deliveries of one user are sent side by side; their order is that of the topic.
  const deliveries = await pipeline.deliveriesIn(pipeline.names.deliveries, destinationId);
  const bodies = deliveries.map(({ body }) => JSON.parse(body.toString()) as Body);
  const said = bodies.map(({ type, event }) => event ?? type).filter((what) => what !== 'Cart Filled');
  assert.deepEqual(said, ['alias', 'identify', 'Order Completed']);
  assert.equal(bodies.length, 4);
  const batches = bodies.map(({ timestamp }) => timestamp).sort();
  const cartFilled = bodies.find(({ event }) => event === 'Cart Filled');
  assert.equal(cartFilled?.timestamp, batches[0], 'what was said first is not later than the others');
});
