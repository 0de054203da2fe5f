/** The Go client library against the pipeline: what a program sends with it arrives at a receiver that verifies with it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { run } from '../support/tools/command.ts';
import { buildGoProgram } from '../support/clients.ts';
import { collect, type Collected } from '@tailrace/testing';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { startPipeline } from '../support/processes/pipeline.ts';

const opened = new AsyncDisposableStack();
after(() => opened.disposeAsync());
const programs = path.join(import.meta.dirname, '../clients/go');
const folder = await mkdtemp(path.join(tmpdir(), 'tailrace-go-'));
opened.defer(() => rm(folder, { recursive: true }));
const send = await buildGoProgram(path.join(programs, 'send'), folder);
const receive = await buildGoProgram(path.join(programs, 'receiver'), folder);
// One partition keeps calls of different users, such as those of the alias sequence, in one order.
const pipeline = opened.use(await startPipeline({ cluster: new MemoryCluster(), partitions: 1 }));
const sharedSecret = 's3cret';

type Body = Readonly<Record<string, unknown>>;

/** The example receiver with a secret; what it has verified are the lines it prints. */
async function startGoReceiver(secret: string): Promise<{ url: string; verified: Collected<Body> }> {
  const child = spawn(receive, ['127.0.0.1:0'], {
    env: { WEBHOOK_SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  opened.defer(async () => {
    const closed = once(child, 'close');
    child.kill();
    await closed;
  });
  const lines = createInterface(child.stdout);
  const [first] = (await once(lines, 'line')) as [string];
  const verified = collect<Body>('the Go receiver', (body) => JSON.stringify(body));
  lines.on('line', (line) => {
    verified.add(JSON.parse(line) as Body);
  });
  return { url: first.replace('listening on ', ''), verified };
}

test('a call of each kind arrives, and its signature is verified', async () => {
  const { url, verified } = await startGoReceiver(sharedSecret);
  const { writeKey } = await pipeline.connect({ webhooks: [{ url }], sharedSecret });
  await run(send, [pipeline.ingestUrl, writeKey, 'kinds']);

  const userId = 'ada';
  const expected: Body[] = [
    { type: 'alias', 'Previous ID': 'anonymous-7', 'User ID': userId },
    { type: 'group', userId, groupId: 'acme', traits: { name: 'Acme' } },
    { type: 'identify', userId, traits: { email: 'ada@example.com' } },
    { type: 'page', userId, properties: { path: '/docs', name: 'Docs', category: 'Help' } },
    { type: 'screen', userId, name: 'Start', properties: { tab: 'search', name: 'Start' } },
    { type: 'track', userId, event: 'Order Completed', properties: { total: 12.5 } },
  ];
  const bodies = [...(await verified.waitFor(expected.length))].sort((a, b) =>
    String(a['type']).localeCompare(String(b['type'])),
  );
  const plain = bodies.map(({ timestamp, context, ...rest }) => {
    assert.match(String(timestamp), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.equal((context as { library?: { name?: string } }).library?.name, 'analytics-go');
    return rest;
  });
  assert.deepEqual(
    plain,
    expected.map((body) => ({ version: 1, ...body })),
  );
});

test('a webhook signed with another secret is refused by the receiver', async () => {
  const { url, verified } = await startGoReceiver('another secret');
  const { writeKey, destinationId } = await pipeline.connect({ webhooks: [{ url }], sharedSecret });
  await run(send, [pipeline.ingestUrl, writeKey, 'alias']);
  await pipeline.deadLetter(destinationId);
  assert.deepEqual(verified.items, []);
});

test('11.3 the calls that turn an anonymous visitor into a known user keep their order', async () => {
  const { url, verified } = await startGoReceiver(sharedSecret);
  const { writeKey, destinationId } = await pipeline.connect({ webhooks: [{ url }], sharedSecret });
  await run(send, [pipeline.ingestUrl, writeKey, 'alias']);
  await verified.waitFor(4);

  const routed = await pipeline.deliveriesIn(pipeline.names.deliveries, destinationId);
  const summary = routed.map(({ body }) => {
    const { type, event, ...ids } = JSON.parse(body.toString()) as Body;
    return [type, event, ids['userId'] ?? ids['anonymousId'] ?? [ids['Previous ID'], ids['User ID']]];
  });
  assert.deepEqual(summary, [
    ['track', 'Cart Filled', 'anonymous-7'],
    ['alias', undefined, ['anonymous-7', 'ada']],
    ['identify', undefined, 'ada'],
    ['track', 'Order Completed', 'ada'],
  ]);
});
