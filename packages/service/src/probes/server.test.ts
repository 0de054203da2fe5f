import assert from 'node:assert/strict';
import { createServer, get as request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { createMetrics, type Metrics } from '../metrics/metrics.ts';
import { listen } from '../http/server.ts';
import { acceptsGzip, startProbeServer, type Readiness } from './server.ts';

/** As it comes, without what fetch does about compression. */
async function scrape(port: number, path: string, headers: Readonly<Record<string, string>> = {}) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ port, path, headers }, resolve).on('error', reject);
  });
  return { headers: response.headers, body: Buffer.concat((await response.toArray()) as Buffer[]) };
}

const readiness = (): Readiness => ({ ready: true, checks: [] });

async function startServer(metrics: Metrics) {
  const server = await startProbeServer({ port: 0, metrics, readiness });
  return { port: server.port, [Symbol.asyncDispose]: () => server.close() };
}

test('/metrics contains the metrics of the service and of the process', async (t) => {
  const metrics = createMetrics();
  metrics.counter('tailrace_ingest_calls_total').inc({ type: 'track' }, 3);
  metrics.gauge('tailrace_history_bytes', () => 42);
  metrics.gauge('tailrace_history_lag_seconds', () => undefined);
  metrics.histogram('tailrace_delivery_attempt_duration_seconds').of({}).observe(0.002);
  const server = await startProbeServer({ port: 0, metrics, readiness });
  t.after(() => server.close());

  const response = await fetch(`http://127.0.0.1:${server.port}/metrics`);
  const body = await response.text();
  assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  assert.match(body, /^tailrace_ingest_calls_total\{type="track"\} 3$/m);
  assert.match(body, /^tailrace_ingest_calls_total\{type="alias"\} 0$/m);
  assert.match(body, /^tailrace_history_bytes 42$/m);
  assert.doesNotMatch(body, /^tailrace_history_lag_seconds /m);
  assert.match(body, /^tailrace_delivery_attempt_duration_seconds_bucket\{le="0\.0025"\} 1$/m);
  assert.match(body, /^process_resident_memory_bytes \d+$/m);
  assert.match(body, /^nodejs_eventloop_lag_seconds /m);
});

test('a counter may be read at each scrape', async () => {
  const metrics = createMetrics({ processMetrics: false });
  let [calls, bytes] = [0, 7];
  metrics.counter('tailrace_events_routed_total', () => [
    { labels: { type: 'track' as const }, value: calls },
  ]);
  metrics.counter('tailrace_ingest_received_bytes_total', () => bytes);
  assert.match(await metrics.expose(), /^tailrace_ingest_received_bytes_total 7$/m);
  [calls, bytes] = [3, 9];
  const text = await metrics.expose();
  assert.match(text, /^tailrace_events_routed_total\{type="track"\} 3$/m);
  assert.match(text, /^tailrace_events_routed_total\{type="page"\} 0$/m);
  assert.match(text, /^tailrace_ingest_received_bytes_total 9$/m);
});

test('metrics by destination, source or partition are on separate pages', async () => {
  const metrics = createMetrics({ processMetrics: false });
  metrics.pages.destinations.add('tailrace_destination_delivery_age_seconds', () => [
    { labels: { destination_id: 'crm' }, suffix: '_sum', value: 0.25 },
    { labels: { destination_id: 'crm' }, suffix: '_count', value: 2 },
  ]);
  metrics.pages.sources.add('tailrace_source_events_total', () => [
    { labels: { source_id: 'a"b\\c\nd' }, value: 1 },
  ]);
  await using server = await startServer(metrics);
  const page = async (path: string): Promise<string> => String((await scrape(server.port, path)).body);
  assert.equal(
    await page('/metrics/destinations'),
    `# HELP tailrace_destination_delivery_age_seconds From the acceptance of an event to its delivery.
# TYPE tailrace_destination_delivery_age_seconds summary
tailrace_destination_delivery_age_seconds_sum{destination_id="crm"} 0.25
tailrace_destination_delivery_age_seconds_count{destination_id="crm"} 2
`,
  );
  assert.match(
    await page('/metrics/sources'),
    /^tailrace_source_events_total\{source_id="a\\"b\\\\c\\nd"\} 1$/m,
  );
  assert.equal(await page('/metrics/partitions'), '');
  assert.doesNotMatch(await page('/metrics'), /destination|source/);
});

test('metrics are compressed if the client accepts gzip', async () => {
  const metrics = createMetrics();
  metrics.pages.destinations.add('tailrace_destination_parked_total', function* () {
    for (let nth = 0; nth < 10_000; nth += 1) yield { labels: { destination_id: `d-${nth}` }, value: nth };
  });
  await using server = await startServer(metrics);
  for (const path of ['/metrics', '/metrics/destinations']) {
    const plain = await scrape(server.port, path);
    const compressed = await scrape(server.port, path, { 'accept-encoding': 'deflate, gzip;q=0.5' });
    assert.equal(plain.headers['content-encoding'], undefined);
    assert.equal(compressed.headers['content-encoding'], 'gzip');
    assert.equal(compressed.headers.vary, 'accept-encoding');
    assert.ok(
      compressed.body.length * 4 < plain.body.length,
      `${compressed.body.length} of ${plain.body.length}`,
    );
    if (path !== '/metrics') assert.deepEqual(gunzipSync(compressed.body), plain.body);
  }
});

test('gzip is used only if the header Accept-Encoding allows it', () => {
  for (const allowed of ['gzip', 'deflate, GZIP;q=0.1', '*', 'br;q=1.0, *;q=0.5']) {
    assert.ok(acceptsGzip(allowed), allowed);
  }
  for (const other of [undefined, '', 'br', 'gzip;q=0', 'gzip; q=0, *', '*;q=0', 'gzipped', 'gzip;q=x']) {
    assert.ok(!acceptsGzip(other), other);
  }
});

test('a client that disconnects ends the generation of its page only', async () => {
  const metrics = createMetrics({ processMetrics: false });
  const ended = Promise.withResolvers<undefined>();
  metrics.pages.sources.add('tailrace_source_events_total', function* () {
    try {
      for (;;) yield { labels: { source_id: 'web' }, value: 1 };
    } finally {
      ended.resolve(undefined);
    }
  });
  await using server = await startServer(metrics);
  const aborter = new AbortController();
  const response = await fetch(`http://127.0.0.1:${server.port}/metrics/sources`, { signal: aborter.signal });
  assert.equal(response.status, 200);
  aborter.abort();
  await ended.promise;
  assert.equal((await fetch(`http://127.0.0.1:${server.port}/livez`)).status, 200);
});

test('/readyz is 503 with the reason while the process is not ready, and /livez is 200', async (t) => {
  const checks = [{ name: 'kafka', ok: false, reason: 'no broker answers' }];
  let answer: Readiness = { ready: false, reason: 'it is starting', checks };
  const server = await startProbeServer({
    port: 0,
    metrics: createMetrics({ processMetrics: false }),
    readiness: () => answer,
  });
  t.after(() => server.close());
  const get = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${server.port}${path}`);

  const refused = await get('/readyz');
  assert.equal(refused.status, 503);
  assert.deepEqual(await refused.json(), answer);
  assert.equal((await get('/livez')).status, 200);
  answer = { ready: true, checks };
  const accepted = await get('/readyz');
  assert.equal(accepted.status, 200);
  assert.deepEqual(await accepted.json(), answer);
  assert.equal((await get('/elsewhere')).status, 404);
});

test('a port in use is an invalid setting, reported with its variable', async (t) => {
  const first = createServer();
  const port = await listen(first, { port: 0 }, 'TAILRACE_INGEST_PORT');
  t.after(() => first.close());
  await assert.rejects(listen(createServer(), { port }, 'TAILRACE_INGEST_PORT'), {
    code: 'invalid-settings',
    message: `TAILRACE_INGEST_PORT: port ${port} is in use by another process. Stop that process, or set TAILRACE_INGEST_PORT to another.`,
  });
});

test('a server listens on the given address only, and an address of another machine is an invalid setting', async (t) => {
  const server = createServer();
  t.after(() => server.close());
  await listen(server, { port: 0, host: '127.0.0.1' }, 'TAILRACE_INGEST_PORT');
  assert.equal((server.address() as AddressInfo).address, '127.0.0.1');
  await assert.rejects(listen(createServer(), { port: 0, host: '192.0.2.1' }, 'TAILRACE_INGEST_PORT'), {
    code: 'invalid-settings',
    message: /^TAILRACE_HOST: 192\.0\.2\.1 is not an address of this machine/,
  });
});
