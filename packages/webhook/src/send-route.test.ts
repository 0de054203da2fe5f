import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { Dispatcher } from 'undici';
import { createAddressPolicy } from './address.ts';
import type { Carrier } from './send-connection.ts';
import { createPools } from './send-pools.ts';
import type { Route } from './send-route.ts';

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

test('destinations are forgotten with their last connection', async (t) => {
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
  const request = { origin, path: '/', method: 'POST' } as const;
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
