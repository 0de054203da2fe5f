import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import type { Dispatcher } from 'undici';
import { createAddressPolicy } from './address.ts';
import type { Carrier } from './send-connection.ts';
import { createPools } from './send-pools.ts';
import type { Route } from './send-route.ts';

/** A server, and the connections to it that have no TLS settings of their own. */
async function start(t: TestContext) {
  const server = createServer((_request, response) => response.end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const pools = createPools({
    policy: createAddressPolicy([{ address: '127.0.0.0', prefix: 8, family: 'ipv4' }]),
    lookup: () => Promise.reject(new Error('there are no names')),
    timeoutMs: 10_000,
    maxConnectionAgeMs: 60_000,
    unusedRouteMs: 60_000,
    authorities: [],
  });
  t.after(() => pools.close());
  const route = pools.routeFor(undefined);
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { server, route, request: { origin, path: '/', method: 'POST' } as const };
}

/** One exchange of a destination, to its end. */
function exchange(route: Route, destinationId: string, request: Dispatcher.DispatchOptions): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  let carrier: Carrier | undefined;
  route.dispatch(destinationId, request, {
    carriedBy: (connection) => {
      carrier = connection;
    },
    onRequestStart: () => undefined,
    onResponseStart: () => undefined,
    onResponseData: () => undefined,
    onResponseEnd: () => {
      carrier?.ended();
      resolve(undefined);
    },
    onResponseError: (_controller, error) => {
      carrier?.failed();
      reject(error);
    },
  });
  return promise;
}

test('a route that is given up ends its connections, those in use when they are free', async (t) => {
  const { route, request } = await start(t);
  await exchange(route, 'idle', request);
  const inUse = exchange(route, 'busy', request);
  assert.equal(route.size, 2);
  route.retire();
  assert.equal(route.size, 1);
  await inUse;
  assert.equal(route.size, 0);
});

test('destinations are forgotten with their last connection', async (t) => {
  const { server, route, request } = await start(t);
  const ids = Array.from({ length: 20 }, (_, nth) => `destination-${nth % 10}`);

  const size = (): number => route.size;
  await Promise.all(ids.map((id) => exchange(route, id, request)));
  assert.equal(size(), 10);
  server.closeAllConnections();
  while (size() > 0) await new Promise(setImmediate);

  // Neither do those remain that could not be reached.
  const unreachable = { ...request, origin: 'http://nowhere.example' };
  await Promise.all(ids.map((id) => assert.rejects(exchange(route, id, unreachable))));
  assert.equal(size(), 0);
});
