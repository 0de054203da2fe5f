import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { createHealth } from './health.ts';
import { buckets, createMetrics } from './metrics.ts';
import { listen, startProbeServer } from './probe-server.ts';

test('/metrics exposes what the service counts and what the process says of itself', async (t) => {
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

test('/readyz is 503 with the reason where a check fails, and /livez is 200 all the same', async (t) => {
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

test('a port in use is a wrong setting, named with its variable', async (t) => {
  const first = createServer();
  const port = await listen(first, 0, 'TAILRACE_INGEST_PORT');
  t.after(() => first.close());
  await assert.rejects(listen(createServer(), port, 'TAILRACE_INGEST_PORT'), {
    code: 'invalid-settings',
    message: `TAILRACE_INGEST_PORT: port ${port} is in use by another process. Stop that one, or set TAILRACE_INGEST_PORT to another.`,
  });
});
