/** Requests to a registry, which is a small HTTP server here. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { simulateTime } from '@tailrace/testing';
import { openRegistry, type RegistryLimits } from './registry.ts';

const ignore = (): void => undefined;
const quiet = { warn: ignore, info: ignore };
const schema = JSON.stringify({ schema: '"string"' });

/** Responds with the status of `statusOf` for an id, and with an Avro schema where it is 200. */
async function startServer(statusOf: (id: number) => number) {
  const requested: number[] = [];
  let open = 0;
  let maxConcurrent = 0;
  let others = 0;
  const server = createServer((request, response) => {
    const id = Number(/schemas\/ids\/(\d+)/.exec(request.url ?? '')?.[1] ?? NaN);
    if (Number.isNaN(id)) {
      others += 1;
      response.end('[]');
      return;
    }
    requested.push(id);
    open += 1;
    maxConcurrent = Math.max(maxConcurrent, open);
    setImmediate(() => {
      open -= 1;
      response.writeHead(statusOf(id), { 'content-type': 'application/json' });
      response.end(statusOf(id) === 200 ? schema : '{"error_code":40403,"message":"no"}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requested,
    get maxConcurrent() {
      return maxConcurrent;
    },
    get others() {
      return others;
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function frame(id: number): Buffer {
  const bytes = Buffer.from([0, 0, 0, 0, 0, 2, 0x61]);
  bytes.writeInt32BE(id, 1);
  return bytes;
}

function open(url: string, limits: Partial<RegistryLimits> = {}) {
  const registry = openRegistry({ url }, quiet, limits);
  return {
    ...registry,
    [Symbol.dispose]() {
      registry.close();
    },
  };
}

test('4,000 unknown ids cause one request each, a few at a time', async () => {
  await using server = await startServer(() => 404);
  using registry = open(server.url, { waitMs: 60_000, rejectedForMs: 3_600_000 });
  const ids = Array.from({ length: 4_000 }, (_, index) => index + 1);
  for (let round = 0; round < 3; round += 1) {
    assert.ok((await Promise.all(ids.map((id) => registry.fetchSchema(id)))).every(Boolean));
    for (const id of ids) assert.equal(registry.read(frame(id)).outcome, 'rejected');
  }
  assert.equal(server.requested.length, 4_000);
  assert.equal(server.others, 1, 'one request checks that a registry answers');
  assert.ok(server.maxConcurrent <= 4, String(server.maxConcurrent));
});

test('an unknown id is requested again after its cache entry expired', async () => {
  let status = 404;
  using time = simulateTime();
  await using server = await startServer(() => status);
  using registry = open(server.url, { rejectedForMs: 30_000 });
  assert.equal(await registry.fetchSchema(7), true);
  status = 200;
  await time.pass(29_999);
  assert.equal(registry.read(frame(7)).outcome, 'rejected');
  await time.pass(1);
  assert.deepEqual(registry.read(frame(7)), { outcome: 'needs-schema', schemaId: 7 });
  assert.equal(await registry.fetchSchema(7), true);
  assert.deepEqual(registry.read(frame(7)), { outcome: 'read', value: 'a' });
});

test('the caches are bounded and evict the least recently used entries', async () => {
  await using server = await startServer((id) => (id < 100 ? 200 : 404));
  using registry = open(server.url, { schemas: 3, rejectedIds: 2 });
  for (const id of [1, 2, 3, 101, 102]) await registry.fetchSchema(id);
  assert.equal(registry.read(frame(1)).outcome, 'read');
  for (const id of [4, 103]) await registry.fetchSchema(id);
  const outcomes = [1, 2, 3, 4, 101, 102, 103].map((id) => registry.read(frame(id)).outcome);
  const [read, rejected, evicted] = ['read', 'rejected', 'needs-schema'];
  assert.deepEqual(outcomes, [read, evicted, read, read, evicted, rejected, rejected]);
});

test('an id that the registry fails on does not delay others', async () => {
  let status = 500;
  await using server = await startServer((id) => (id === 1 ? status : 200));
  using registry = open(server.url);
  assert.equal(await registry.fetchSchema(1), false);
  assert.equal(await registry.fetchSchema(2), true);
  assert.equal(registry.read(frame(2)).outcome, 'read');
  assert.equal(registry.read(frame(1)).outcome, 'needs-schema');
  const answer = new Promise<number>((resolve) => {
    registry.onFetched(resolve);
  });
  status = 200;
  assert.equal(await answer, 1);
  assert.equal(registry.read(frame(1)).outcome, 'read');
});
