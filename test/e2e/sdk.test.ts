/** Public tracking SDKs, as their users install them, against the pipeline: each call of each kind arrives once. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type * as analyticsNext from '@segment/analytics-next';
import { Analytics } from '@segment/analytics-node';
import { chromium } from 'playwright-core';
import type { Source } from '@tailrace/config';
import { findChromium, runGoClient, runPythonClient } from '../support/clients.ts';
import { MemoryCluster } from '@tailrace/kafka/testing';
import { startPipeline } from '../support/processes/pipeline.ts';
import { startReceiver, type Receiver } from '../support/receivers/receiver.ts';

const opened = new AsyncDisposableStack();
after(() => opened.disposeAsync());
const pipeline = opened.use(await startPipeline({ cluster: new MemoryCluster() }));
const sharedSecret = 's3cret';

/** A source and a receiver of a test's own. */
interface Way {
  readonly writeKey: string;
  readonly destinationId: string;
  readonly receiver: Receiver;
}

async function openWay(source?: Partial<Source>): Promise<Way> {
  const receiver = opened.use(await startReceiver());
  const settings = { webhooks: [{ url: receiver.url }], sharedSecret };
  const { writeKey, destinationId } = await pipeline.connect(settings, source);
  return { writeKey, destinationId, receiver };
}

interface Body {
  readonly type: string;
  readonly timestamp: string;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly context: { readonly ip?: string; readonly library?: { readonly name?: string } };
}

/** The calls of every program: one call of each kind, of the user ada. */
async function assertEachArrivesOnce({ receiver, destinationId }: Way, library: string): Promise<Body[]> {
  const requests = await receiver.waitFor(6);
  for (const { headers, body } of requests) {
    assert.equal(headers['x-signature'], createHmac('sha1', sharedSecret).update(body).digest('hex'));
  }
  const bodies = requests.map((request) => request.json() as Body);
  const kinds = bodies.map(({ type }) => type).sort();
  assert.deepEqual(kinds, ['alias', 'group', 'identify', 'page', 'screen', 'track']);
  for (const { context } of bodies) assert.equal(context.library?.name, library);

  const userId = 'ada';
  const expected = {
    identify: { version: 1, userId, traits: { email: 'ada@example.com' } },
    track: { version: 1, userId, event: 'Order Completed', properties: { total: 12.5 } },
    group: { version: 1, userId, groupId: 'acme', traits: { name: 'Acme' } },
    alias: { version: 1, 'Previous ID': 'anonymous-7', 'User ID': userId },
  };
  for (const [kind, fields] of Object.entries(expected)) {
    const { timestamp, context, ...rest } = bodies.find(({ type }) => type === kind) ?? assert.fail(kind);
    assert.match(timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.deepEqual(rest, { ...fields, type: kind }, JSON.stringify(context));
  }
  const properties = (kind: string) => bodies.find(({ type }) => type === kind)?.properties;
  assert.deepEqual([properties('page')?.['name'], properties('page')?.['path']], ['Docs', '/docs']);
  assert.deepEqual([properties('screen')?.['name'], properties('screen')?.['tab']], ['Start', 'search']);

  const routed = await pipeline.deliveriesIn(pipeline.names.deliveries, destinationId);
  assert.equal(routed.length, 6, 'each is routed once');
  assert.equal(receiver.requests.length, 6, 'each arrives once');
  return bodies;
}

test('@segment/analytics-node', async () => {
  const way = await openWay();
  const analytics = new Analytics({ writeKey: way.writeKey, host: pipeline.ingestUrl });
  const failures: unknown[] = [];
  analytics.on('error', (failure) => failures.push(failure));
  const userId = 'ada';
  analytics.identify({ userId, traits: { email: 'ada@example.com' } });
  analytics.track({ userId, event: 'Order Completed', properties: { total: 12.5 } });
  analytics.page({ userId, name: 'Docs', category: 'Help', properties: { path: '/docs' } });
  analytics.screen({ userId, name: 'Start', properties: { tab: 'search' } });
  analytics.group({ userId, groupId: 'acme', traits: { name: 'Acme' } });
  analytics.alias({ userId, previousId: 'anonymous-7' });
  await analytics.closeAndFlush();
  assert.deepEqual(failures, []);
  await assertEachArrivesOnce(way, '@segment/analytics-node');
});

test('segment-analytics-python, with gzip', async () => {
  const way = await openWay();
  await runPythonClient([pipeline.ingestUrl, way.writeKey]);
  await assertEachArrivesOnce(way, 'analytics-python');
});

test('analytics-go, version 3', async () => {
  const way = await openWay();
  const folder = await mkdtemp(path.join(tmpdir(), 'tailrace-go-'));
  opened.defer(() => rm(folder, { recursive: true }));
  await runGoClient(folder, [pipeline.ingestUrl, way.writeKey]);
  await assertEachArrivesOnce(way, 'analytics-go');
});

const deliveryStrategies = [
  { strategy: 'standard', config: {} },
  { strategy: 'batching', config: { size: 3, timeout: 200 } },
] as const;

for (const deliveryStrategy of deliveryStrategies) {
  const { strategy } = deliveryStrategy;
  test(`@segment/analytics-next in Chromium, from a page of another origin, ${strategy}`, async () => {
    const way = await openWay({ addIp: true });
    const page = await openPage();
    const { ingestUrl } = pipeline;
    await page.evaluate(trackInBrowser, { writeKey: way.writeKey, ingestUrl, deliveryStrategy });
    for (const { context } of await assertEachArrivesOnce(way, 'analytics.js')) {
      assert.equal((context as { page?: { title?: string } }).page?.title, 'Shop');
      assert.equal(context.ip, '127.0.0.1', 'the SDK leaves it to the server');
    }
  });
}

/** What the SDK's users write in their pages. Runs in the browser. */
async function trackInBrowser(options: {
  readonly writeKey: string;
  readonly ingestUrl: string;
  readonly deliveryStrategy: (typeof deliveryStrategies)[number];
}): Promise<void> {
  const { writeKey, ingestUrl, deliveryStrategy } = options;
  const { AnalyticsNext } = globalThis as unknown as { AnalyticsNext: typeof analyticsNext };
  const [analytics] = await AnalyticsNext.AnalyticsBrowser.load(
    { writeKey, cdnURL: ingestUrl },
    { integrations: { 'Segment.io': { deliveryStrategy } } },
  );
  await analytics.identify('ada', { email: 'ada@example.com' });
  await analytics.track('Order Completed', { total: 12.5 });
  await analytics.page('Help', 'Docs', { path: '/docs' });
  await analytics.screen('Start', { tab: 'search' });
  await analytics.group('acme', { name: 'Acme' });
  await analytics.alias('ada', 'anonymous-7');
}

/** A page of a shop, with the SDK's own script in it, in a new browser. */
async function openPage() {
  const browser = await chromium.launch({
    executablePath: await findChromium(),
    // Inside a container, as root, Chromium has no sandbox of its own; the others keep it from asking the world.
    args: ['--no-sandbox', '--disable-quic', '--disable-component-update', '--disable-background-networking'],
  });
  opened.defer(() => browser.close());
  const shop = await startShop();
  const page = await browser.newPage();
  await page.goto(`${shop}/shop`);
  await page.waitForFunction('window.AnalyticsNext');
  return page;
}

async function startShop(): Promise<string> {
  const scripts = path.dirname(fileURLToPath(import.meta.resolve('@segment/analytics-next')));
  const umd = path.join(scripts, '../umd');
  const server = createServer((request, response) => {
    const { url = '' } = request;
    if (url === '/shop') {
      response.setHeader('content-type', 'text/html');
      response.end('<!doctype html><title>Shop</title><script src="/sdk/index.js"></script>');
      return;
    }
    readFile(path.join(umd, path.basename(url))).then(
      (script) => response.setHeader('content-type', 'text/javascript').end(script),
      () => response.writeHead(404).end(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.defer(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return `http://localhost:${port}`;
}
