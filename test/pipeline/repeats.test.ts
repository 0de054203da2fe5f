/** Repeats and reused messageIds, from HTTP to `deliveries`, on an in-memory Kafka. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { eventually } from '@tailrace/testing';
import type { Delivery } from '@tailrace/records';
import { startPipeline, type Connection, type Pipeline } from '../support/processes/pipeline.ts';
import { startReceiver, type Receiver } from '../support/receivers/receiver.ts';

let pipeline: Pipeline;
let receiver: Receiver;
const opened = new AsyncDisposableStack();
before(async () => {
  pipeline = opened.use(await startPipeline({ cluster: new MemoryCluster(), partitions: 1 }));
  receiver = opened.use(await startReceiver());
});
after(() => opened.disposeAsync());

type Fields = Readonly<Record<string, unknown>>;
interface Step {
  readonly call?: string;
  readonly message?: Fields;
  readonly error?: object;
}

/** The valid calls of the scenarios of the client libraries. */
function vectorCalls(): Fields[] {
  return ['vectors.json', 'delivery.json'].flatMap((file) => {
    const text = readFileSync(
      path.join(import.meta.dirname, '../../packages/analytics-vectors', file),
      'utf8',
    );
    const { scenarios } = JSON.parse(text) as { scenarios: readonly { steps: readonly Step[] }[] };
    return scenarios.flatMap(({ steps }) =>
      steps.flatMap(({ call, message, error }) =>
        call !== undefined && message && !error ? [{ ...message, type: call }] : [],
      ),
    );
  });
}

/** What public SDKs send beside the fields of the call. */
const sdkForms: readonly Fields[] = [
  { integrations: {}, context: { library: { name: 'a', version: '1' } }, _metadata: { nodeVersion: '24' } },
  { originalTimestamp: '2026-11-21T07:29:33.479Z', sentAt: '2026-11-21T07:29:34.000Z', channel: 'server' },
  { timestamp: '2026-11-21T07:27:36+0000' },
  { timestamp: '2026-11-21T08:27:36.123456789+01:00', anonymousId: null, category: null },
  { integrations: { All: true }, context: { traits: { plan: 'pro' }, ip: '203.0.113.7' } },
  {
    context: { userAgent: 'a', page: { path: '/', url: 'https://a.example/' } },
    anonymousId: 'a-1',
    version: 1,
  },
];

async function sendBatches(
  { writeKey }: Connection,
  calls: readonly Fields[],
  { size, ...fields }: { readonly size: number } & Fields,
): Promise<void> {
  for (let start = 0; start < calls.length; start += size) {
    const batch = calls.slice(start, start + size);
    const response = await fetch(`${pipeline.ingestUrl}/v1/batch`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${writeKey}:`)}`, 'content-encoding': 'gzip' },
      body: gzipSync(JSON.stringify({ ...fields, batch })),
    });
    assert.deepEqual(await response.json(), { success: true });
  }
}

/** The deliveries of the source, once a last call is routed. */
async function routed({ send, destinationId }: Connection, lastId: string): Promise<Delivery[]> {
  await send('page', { userId: 'ada', messageId: lastId });
  const deliveries = await eventually(
    () => pipeline.deliveriesIn(pipeline.names.deliveries, destinationId),
    (found) => found.some(({ eventId }) => eventId === lastId),
  );
  return deliveries.filter(({ eventId }) => !eventId.startsWith('last'));
}

const connect = (): Promise<Connection> => pipeline.connect({ webhooks: [{ url: receiver.url }] });

test('3.2 14.7 each call of an SDK is a repeat where it is sent again in other batches, compressed, at another time', async () => {
  const connection = await connect();
  const order = { type: 'track', userId: 'ada', event: 'Order Completed', properties: { total: 25.5 } };
  const calls = [...vectorCalls(), ...sdkForms.map((form) => ({ ...order, ...form }))].map((call, index) => ({
    timestamp: '2026-11-21T07:29:33.479Z',
    ...call,
    messageId: `m-${index}`,
  }));
  assert.ok(calls.length > 50, `${calls.length} calls`);
  const context = { library: { name: 'analytics-node', version: '3.1.0' } };
  await sendBatches(connection, calls, { size: 7, context, sentAt: '2026-11-21T07:30:00.000Z' });
  const retried = calls.map((call) => ({ ...call, _metadata: { retryCount: 2 } }));
  await sendBatches(connection, retried, { size: 3, context, sentAt: '2026-11-21T07:31:00.000Z' });
  const ids = (await routed(connection, 'last')).map(({ eventId }) => eventId);
  assert.deepEqual(ids.sort(), calls.map(({ messageId }) => messageId).sort());
});

test("3.7 a call that only has the messageId of a server's call does not suppress it, whichever field differs", async () => {
  const connection = await connect();
  const genuine = {
    type: 'track',
    userId: 'ada',
    event: 'Order Completed',
    messageId: 'order-17',
    properties: { total: 25.5 },
    context: { app: { name: 'shop' } },
  };
  const forgeries: readonly Fields[] = [
    { event: 'Order Refunded' },
    { properties: { total: 0 } },
    { integrations: { All: false } },
    { context: { app: { name: 'other' } } },
    { anonymousId: 'a-1' },
    { type: 'page' },
  ];
  for (const [index, forgery] of forgeries.entries()) {
    const messageId = `order-${index}`;
    await sendBatches(connection, [{ ...genuine, ...forgery, messageId }], { size: 1 });
    await sendBatches(connection, [{ ...genuine, messageId }], {
      size: 1,
      sentAt: '2026-11-21T07:30:00.000Z',
    });
  }
  const deliveries = await routed(connection, 'last');
  for (const index of forgeries.keys()) {
    const found = deliveries.filter(({ eventId }) => eventId === `order-${index}`);
    const { timestamp: _, ...body } = JSON.parse(found.at(-1)?.body.toString() ?? '{}') as Fields;
    const { messageId: _id, ...sent } = genuine;
    assert.deepEqual(body, { version: 1, ...sent });
  }
  assert.equal(
    new Set(deliveries.map(({ deliveryId }) => deliveryId)).size,
    11,
    'one forgery has no delivery',
  );
});
