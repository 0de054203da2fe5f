/** The memory of a request while it waits for Kafka, and what a large batch costs others. */
import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Source } from '@tailrace/config';
import { TailraceError, type ErrorCode } from '@tailrace/errors';
import type { OutgoingRecord } from '@tailrace/kafka';
import { createMetrics, trustProxies } from '@tailrace/service';
import { collectGarbage, simulateTime } from '@tailrace/testing';
import { createAcceptor } from '../calls/accept.ts';
import { createMemoryBudget } from '../memory/budget.ts';
import { createIngestMetrics } from '../metrics.ts';
import { createRateLimits } from '../calls/rate-limit.ts';
import type { SourceFinder } from '../calls/write-key.ts';
import type { Answer } from '../http/answer.ts';
import { createRouter } from '../http/router.ts';
import { trackingRoutes } from './tracking.ts';

const web: Source = { id: 'web', writeKeys: ['wk_web'], enabled: true };
const none = (): void => undefined;

function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** The routes, with a publisher that publishes with `publish`. */
function openRoutes(sources: SourceFinder, publish: (record: OutgoingRecord) => Promise<void>) {
  const budget = createMemoryBudget(64 * 2 ** 20);
  const registry = createMetrics({ processMetrics: false });
  const metrics = createIngestMetrics(registry, { publisher: { bufferedBytes: 0 }, memory: budget });
  const refused = { keep: none };
  const acceptor = createAcceptor({
    publisher: { publish },
    names: { events: 'events', eventsRejected: 'rejected' },
    rateLimits: createRateLimits({ sharedCalls: 0 }),
    refused,
    acknowledgeWithinMs: 10_000,
    metrics,
  });
  const routes = trackingRoutes({ sources, acceptor, refused, proxies: trustProxies([]), metrics });
  const find = createRouter(routes);
  return {
    budget,
    receivedCalls: async () =>
      Number(/^tailrace_ingest_calls_received_total (\d+)$/m.exec(await registry.expose())?.[1]),
    post: async (path: string, key: string | undefined, body: string): Promise<Answer> => {
      const match = find('POST', path);
      assert.ok(match);
      const request = Object.assign(new PassThrough(), {
        headers: key === undefined ? {} : { authorization: `Basic ${btoa(`${key}:`)}` },
        socket: {},
      });
      request.end(body);
      const incoming = request as unknown as IncomingMessage;
      return match.route.handle(incoming, match.target, budget.open(0), undefined);
    },
  };
}

const goodCall = '{"type":"track","userId":"ada","event":"e","properties":{"a":1}}';
const objects = ',{}'.repeat(160_000);
const requests = {
  'a batch with a key in the header': { key: 'wk_web', body: `{"batch":[${goodCall}],"x":[0${objects}]}` },
  'a batch whose key must be looked up': {
    key: undefined,
    body: `{"writeKey":"wk_new","batch":[${goodCall}],"x":[0${objects}]}`,
  },
};

for (const [name, { key, body }] of Object.entries(requests)) {
  test(`${name} does not hold its parsed form while it waits`, async () => {
    const waiting: unknown[] = [];
    const wait = (value: unknown): Promise<never> => {
      waiting.push(value);
      return new Promise(none);
    };
    const sources = {
      known: (keys: readonly string[]) => (keys.includes('wk_web') ? web : undefined),
      find: wait,
    };
    const { budget, post } = openRoutes(sources, wait);

    const before = heapBytes();
    const pending: unknown[] = [];
    for (let count = 1; count <= 10; count++) {
      pending.push(post('/v1/batch', key, body));
      while (waiting.length < count) await new Promise(setImmediate);
    }
    // Each of them takes 10 MB in parsed form.
    const heldBytes = heapBytes() - before;
    assert.ok(heldBytes < 10 * 2 ** 20, `${pending.length} requests hold ${heldBytes} bytes`);
    assert.ok(budget.heldBytes >= 10 * (key === undefined ? body.length : goodCall.length));
  });
}

/** Of 400 KB. */
const largeBatch = JSON.stringify({
  batch: Array.from({ length: 1_000 }, () => ({
    type: 'track',
    userId: 'flood',
    event: 'e',
    properties: { note: 'x'.repeat(340) },
  })),
});
const sourceOf = (keys: readonly string[], limits: Partial<Source> = {}): Source => ({
  id: keys.join(),
  writeKeys: keys,
  enabled: true,
  ...limits,
});
const acceptingAll = (limits: Partial<Source> = {}): SourceFinder => ({
  known: (keys) => (keys.length > 0 ? sourceOf(keys, limits) : undefined),
  find: (keys) => Promise.resolve(sourceOf(keys, limits)),
});

for (const keyIn of ['header', 'body']) {
  test(`a call is published between the slices in which a large batch with its key in the ${keyIn} is read`, async () => {
    const published: unknown[] = [];
    const { post, receivedCalls } = openRoutes(acceptingAll(), ({ key }) => {
      published.push(key);
      return Promise.resolve();
    });
    const flood =
      keyIn === 'header'
        ? post('/v1/batch', 'wk_flood', largeBatch)
        : post('/v1/batch', undefined, largeBatch.replace('{', '{"writeKey":"wk_flood",'));
    while ((await receivedCalls()) < 1_000) await nextTurn();
    assert.equal((await post('/v1/track', 'wk_web', goodCall)).status, 200);
    assert.deepEqual(published, ['ada']);
    assert.equal((await flood).status, 200);
    assert.equal(published.length, 1_001);
  });
}

test('14.8 a large batch is refused a second later, whatever is wrong with it', async () => {
  using time = simulateTime();
  const sources: SourceFinder = {
    known: (keys) => (keys.includes('wk_flood') ? sourceOf(keys) : undefined),
    find: () => Promise.reject(new TailraceError('unknown-write-key')),
  };
  const { post } = openRoutes(sources, () => assert.fail('published'));
  const shared = {
    context: { note: 'x'.repeat(60_000) },
    batch: Array.from({ length: 1_000 }, () => ({ type: 'page' })),
  };
  const cases: readonly [code: ErrorCode, key: string | undefined, body: string][] = [
    ['malformed-json', 'wk_flood', largeBatch.slice(1)],
    ['invalid-call', 'wk_flood', largeBatch.replace('batch', 'calls')],
    ['batch-too-large', 'wk_flood', `{"batch":[{}${objects}]}`.slice(0, 480_000).replace(/,?[^,]*$/, ']}')],
    ['batch-too-large', 'wk_flood', JSON.stringify(shared)],
    ['unknown-write-key', undefined, largeBatch.replace('{', '{"writeKey":"wk_none",')],
  ];
  for (const [code, key, body] of cases) {
    let isRefused = false;
    const refused = assert.rejects(post('/v1/batch', key, body), { code }).then(() => (isRefused = true));
    await time.pass(999);
    assert.equal(isRefused, false, code);
    await time.pass(1);
    await refused;
  }
});

test('a large batch over the rate limit is refused a second later, and its body is not kept meanwhile', async () => {
  using time = simulateTime();
  const { budget, post } = openRoutes(acceptingAll({ rateLimit: 300 }), () => Promise.resolve());
  const refused = post('/v1/batch', 'wk_flood', largeBatch);
  let isRefused = false;
  refused.catch(() => {
    isRefused = true;
  });
  await time.pass(999);
  assert.equal(isRefused, false);
  assert.equal(budget.heldBytes, 0);
  await time.pass(1);
  await assert.rejects(refused, { code: 'rate-limited', retryAfterS: 3 });
  // A single call is refused immediately, while time stands still.
  for (let count = 0; count < 300; count += 1) {
    assert.equal((await post('/v1/track', 'wk_flood', goodCall)).status, 200);
  }
  await assert.rejects(post('/v1/track', 'wk_flood', goodCall), { code: 'rate-limited' });
});
