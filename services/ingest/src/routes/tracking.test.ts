/** The memory of a request while it waits for Kafka. */
import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Source } from '@tailrace/config';
import { createMetrics, trustProxies } from '@tailrace/service';
import { createAcceptor } from '../calls/accept.ts';
import { createMemoryBudget } from '../memory/budget.ts';
import { createIngestMetrics } from '../metrics.ts';
import { createRateLimits } from '../calls/rate-limit.ts';
import { createRouter } from '../http/router.ts';
import { trackingRoutes } from './tracking.ts';

const web: Source = { id: 'web', writeKeys: ['wk_web'], enabled: true };
const none = (): void => undefined;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
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
    const budget = createMemoryBudget(64 * 2 ** 20);
    const metrics = createIngestMetrics(createMetrics({ processMetrics: false }), {
      publisher: { bufferedBytes: 0 },
      memory: budget,
    });
    const acceptor = createAcceptor({
      publisher: { publish: wait },
      names: { events: 'events', eventsRejected: 'rejected' },
      rateLimits: createRateLimits({ sharedCalls: 0 }),
      acknowledgeWithinMs: 10_000,
      metrics,
    });
    const sources = {
      known: (keys: readonly string[]) => (keys.includes('wk_web') ? web : undefined),
      find: wait,
    };
    const find = createRouter(trackingRoutes({ sources, acceptor, proxies: trustProxies([]), metrics }));
    const match = find('POST', '/v1/batch');
    assert.ok(match);

    const before = heapBytes();
    const pending: unknown[] = [];
    for (let count = 1; count <= 10; count++) {
      const request = Object.assign(new PassThrough(), {
        headers: key === undefined ? {} : { authorization: `Basic ${btoa(`${key}:`)}` },
        socket: {},
      });
      request.end(body);
      const incoming = request as unknown as IncomingMessage;
      pending.push(match.route.handle(incoming, match.target, budget.open(0), undefined));
      while (waiting.length < count) await new Promise(setImmediate);
    }
    // Each of them takes 10 MB in parsed form.
    const heldBytes = heapBytes() - before;
    assert.ok(heldBytes < 10 * 2 ** 20, `${pending.length} requests hold ${heldBytes} bytes`);
    assert.ok(budget.heldBytes >= 10 * (key === undefined ? body.length : goodCall.length));
  });
}
