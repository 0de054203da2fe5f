/** How much is asked of a registry, on a small HTTP server in its place. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { openRegistry, type RegistryLimits } from './registry.ts';

const ignore = (): void => undefined;
const quiet = { warn: ignore, info: ignore };
const schema = JSON.stringify({ schema: '"string"' });

/** Answers with the status that `statusOf` says for an id, and with an Avro schema where it is 200. */
async function startServer(statusOf: (id: number) => number) {
  const asked: number[] = [];
  let open = 0;
  let mostAtATime = 0;
  let others = 0;
  const server = createServer((request, response) => {
    const id = Number(/schemas\/ids\/(\d+)/.exec(request.url ?? '')?.[1] ?? NaN);
    if (Number.isNaN(id)) {
      others += 1;
      response.end('[]');
      return;
    }
    asked.push(id);
    open += 1;
    mostAtATime = Math.max(mostAtATime, open);
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
    asked,
    get mostAtATime() {
      return mostAtATime;
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
  const registry = openRegistry(url, quiet, limits);
  return {
    ...registry,
    [Symbol.dispose]() {
      registry.close();
    },
  };
}

test('4,000 invented ids cost a request each, a few at a time, and are remembered', async () => {
  await using server = await startServer(() => 404);
  using registry = open(server.url, { patienceMs: 60_000 });
  const ids = Array.from({ length: 4_000 }, (_, index) => index + 1);
  for (let round = 0; round < 3; round += 1) {
    assert.ok((await Promise.all(ids.map((id) => registry.ask(id)))).every(Boolean));
    for (const id of ids) assert.equal(registry.read(frame(id)).outcome, 'rejected');
  }
  assert.equal(server.asked.length, 4_000);
  assert.equal(server.others, 1, 'it is looked once whether a registry answers');
  assert.ok(server.mostAtATime <= 4, String(server.mostAtATime));
});

test('an unknown id is asked for again after a while', async () => {
  let status = 404;
  await using server = await startServer(() => status);
  using registry = open(server.url, { rejectedForMs: 20 });
  assert.equal(await registry.ask(7), true);
  status = 200;
  while (registry.read(frame(7)).outcome === 'rejected')
    await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(registry.read(frame(7)), { outcome: 'needs-schema', schemaId: 7 });
  assert.equal(await registry.ask(7), true);
  assert.deepEqual(registry.read(frame(7)), { outcome: 'read', value: 'a' });
});

test('what is kept is bounded; what was used longest ago goes first', async () => {
  await using server = await startServer((id) => (id < 100 ? 200 : 404));
  using registry = open(server.url, { schemas: 3, rejectedIds: 2 });
  for (const id of [1, 2, 3, 101, 102]) await registry.ask(id);
  assert.equal(registry.read(frame(1)).outcome, 'read');
  for (const id of [4, 103]) await registry.ask(id);
  const outcomes = [1, 2, 3, 4, 101, 102, 103].map((id) => registry.read(frame(id)).outcome);
  const [read, rejected, gone] = ['read', 'rejected', 'needs-schema'];
  assert.deepEqual(outcomes, [read, gone, read, read, gone, rejected, rejected]);
});

test('one id that the registry fails on keeps no other from its schema', async () => {
  let status = 500;
  await using server = await startServer((id) => (id === 1 ? status : 200));
  using registry = open(server.url);
  assert.equal(await registry.ask(1), false);
  assert.equal(await registry.ask(2), true);
  assert.equal(registry.read(frame(2)).outcome, 'read');
  assert.equal(registry.read(frame(1)).outcome, 'needs-schema');
  const answer = new Promise<number>((resolve) => {
    registry.onAnswer(resolve);
  });
  status = 200;
  assert.equal(await answer, 1);
  assert.equal(registry.read(frame(1)).outcome, 'read');
});
