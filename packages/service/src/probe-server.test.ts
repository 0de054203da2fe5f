import assert from 'node:assert/strict';
import { createServer, get as request, type IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { createHealth } from './health.ts';
import { buckets, createMetrics, watchLag, type Metrics } from './metrics.ts';
import { acceptsGzip, listen, startProbeServer } from './probe-server.ts';

/** As it comes, without what fetch does about compression. */
async function scrape(port: number, path: string, headers: Readonly<Record<string, string>> = {}) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ port, path, headers }, resolve).on('error', reject);
  });
  return { headers: response.headers, body: Buffer.concat((await response.toArray()) as Buffer[]) };
}

async function startServer(metrics: Metrics) {
  const server = await startProbeServer({ port: 0, metrics, health: createHealth() });
  return { port: server.port, [Symbol.asyncDispose]: () => server.close() };
}

test('/metrics contains the metrics of the service and of the process', async (t) => {
  const metrics = createMetrics();
  metrics.counter('tailrace_calls_total', 'Calls.', ['type']).inc({ type: 'track' }, 3);
  metrics.gauge('tailrace_buffer_bytes', 'Buffered.', { read: () => 42 });
  metrics.histogram('tailrace_wait_seconds', 'Waits.', { buckets: buckets.requestSeconds }).observe(0.002);
  const server = await startProbeServer({ port: 0, metrics, health: createHealth() });
  t.after(() => server.close());

  const response = await fetch(`http://127.0.0.1:${server.port}/metrics`);
  const body = await response.text();
  assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  assert.match(body, /^tailrace_calls_total\{type="track"\} 3$/m);
  assert.match(body, /^tailrace_buffer_bytes 42$/m);
  assert.match(body, /^tailrace_wait_seconds_bucket\{le="0\.0025"\} 1$/m);
  assert.match(body, /^process_resident_memory_bytes \d+$/m);
  assert.match(body, /^nodejs_eventloop_lag_seconds /m);
});

test('a counter may be read at each scrape', async () => {
  const metrics = createMetrics({ processMetrics: false });
  let [calls, bytes] = [0, 7];
  metrics.counter('tailrace_calls_total', 'Calls.', ['type'], () => [
    { labels: { type: 'track' }, value: calls },
  ]);
  metrics.counter('tailrace_bytes_total', 'Bytes.', [], () => bytes);
  assert.match(await metrics.expose(), /^tailrace_bytes_total 7$/m);
  [calls, bytes] = [3, 9];
  const text = await metrics.expose();
  assert.match(text, /^tailrace_calls_total\{type="track"\} 3$/m);
  assert.match(text, /^tailrace_bytes_total 9$/m);
});

test('metrics by destination, source or partition are on separate pages', async () => {
  const metrics = createMetrics({ processMetrics: false });
  metrics.pages.destinations.add({
    ...{ name: 'tailrace_destination_waits_seconds', help: 'Waits.', type: 'summary' },
    samples: () => [
      { labels: { destination_id: 'crm' }, suffix: '_sum', value: 0.25 },
      { labels: { destination_id: 'crm' }, suffix: '_count', value: 2 },
    ],
  });
  metrics.pages.sources.add({
    ...{ name: 'tailrace_source_events_total', help: 'Events.', type: 'counter' },
    samples: () => [{ labels: { source_id: 'a"b\\c\nd', more: '' }, value: 1 }],
  });
  await using server = await startServer(metrics);
  const page = async (path: string): Promise<string> => String((await scrape(server.port, path)).body);
  assert.equal(
    await page('/metrics/destinations'),
    `# HELP tailrace_destination_waits_seconds Waits.
# TYPE tailrace_destination_waits_seconds summary
tailrace_destination_waits_seconds_sum{destination_id="crm"} 0.25
tailrace_destination_waits_seconds_count{destination_id="crm"} 2
`,
  );
  assert.match(
    await page('/metrics/sources'),
    /^tailrace_source_events_total\{source_id="a\\"b\\\\c\\nd",more=""\} 1$/m,
  );
  assert.equal(await page('/metrics/partitions'), '');
  assert.doesNotMatch(await page('/metrics'), /destination|source/);
});

test('/metrics contains the lag by topic, and a page the lag by partition', async () => {
  const metrics = createMetrics({ processMetrics: false });
  const partitions = Array.from({ length: 12 * 200 }, (_, place) => {
    const [topic, partition] = [`topic-${Math.trunc(place / 200)}`, place % 200];
    return { topic, partition, lag: partition === 7 ? 1_000 : 1 };
  });
  watchLag(metrics, { partitions });
  const text = await metrics.expose();
  assert.equal(text.match(/^tailrace_consumer_lag_records\{topic="topic-\d+"\} 1199$/gm)?.length, 12);
  assert.equal(text.match(/^tailrace_consumer_lag_max_records\{topic="topic-\d+"\} 1000$/gm)?.length, 12);
  assert.doesNotMatch(text, /partition=/);
  const page = [...metrics.pages.partitions.lines()].join('');
  assert.equal(
    page.match(/^tailrace_partition_lag_records\{topic="topic-\d+",partition="\d+"\} /gm)?.length,
    2_400,
  );
});

test('metrics are compressed if the client accepts gzip', async () => {
  const metrics = createMetrics();
  metrics.pages.destinations.add({
    ...{ name: 'tailrace_destination_attempts_total', help: 'Attempts.', type: 'counter' },
    *samples() {
      for (let nth = 0; nth < 10_000; nth += 1) yield { labels: { destination_id: `d-${nth}` }, value: nth };
    },
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
  metrics.pages.sources.add({
    ...{ name: 'tailrace_source_events_total', help: 'Events.', type: 'counter' },
    *samples() {
      try {
        for (;;) yield { labels: { source_id: 'web' }, value: 1 };
      } finally {
        ended.resolve(undefined);
      }
    },
  });
  await using server = await startServer(metrics);
  const aborter = new AbortController();
  const response = await fetch(`http://127.0.0.1:${server.port}/metrics/sources`, { signal: aborter.signal });
  assert.equal(response.status, 200);
  aborter.abort();
  await ended.promise;
  assert.equal((await fetch(`http://127.0.0.1:${server.port}/livez`)).status, 200);
});

test('/readyz is 503 with the reason if a check fails, while /livez is 200', async (t) => {
  const health = createHealth({ cacheMs: 0 });
  let broken = true;
  health.add('kafka', () => (broken ? Promise.reject(new Error('no broker answers')) : Promise.resolve()));
  const server = await startProbeServer({
    port: 0,
    metrics: createMetrics({ processMetrics: false }),
    health,
  });
  t.after(() => server.close());
  const get = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${server.port}${path}`);

  const refused = await get('/readyz');
  assert.equal(refused.status, 503);
  assert.deepEqual(await refused.json(), {
    ready: false,
    checks: [{ name: 'kafka', ready: false, reason: 'no broker answers' }],
  });
  assert.equal((await get('/livez')).status, 200);
  broken = false;
  assert.equal((await get('/readyz')).status, 200);
  assert.equal((await get('/elsewhere')).status, 404);
});

test('a port in use is an invalid setting, reported with its variable', async (t) => {
  const first = createServer();
  const port = await listen(first, 0, 'TAILRACE_INGEST_PORT');
  t.after(() => first.close());
  await assert.rejects(listen(createServer(), port, 'TAILRACE_INGEST_PORT'), {
    code: 'invalid-settings',
    message: `TAILRACE_INGEST_PORT: port ${port} is in use by another process. Stop that process, or set TAILRACE_INGEST_PORT to another.`,
  });
});
