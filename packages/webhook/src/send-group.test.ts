import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import type { Dispatcher } from 'undici';
import { createAddressPolicy } from './address.ts';
import type { Carrier } from './send-connection.ts';
import { createPools } from './send-pools.ts';
import type { ConnectionGroup } from './send-group.ts';

/** Starts a server, and a connection group for it without TLS settings. */
async function start(t: TestContext) {
  const server = createServer((_request, response) => response.end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const pools = createPools({
    policy: createAddressPolicy([{ address: '127.0.0.0', prefix: 8, family: 'ipv4' }]),
    lookup: () => Promise.reject(new Error('there are no names')),
    timeoutMs: 10_000,
    maxConnectionAgeMs: 60_000,
    unusedGroupMs: 60_000,
    authorities: [],
  });
  t.after(() => pools.close());
  const group = pools.groupFor(undefined);
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { server, group, request: { origin, path: '/', method: 'POST' } as const };
}

/** Sends one request of a destination, and resolves when the exchange is complete. */
function exchange(
  group: ConnectionGroup,
  destinationId: string,
  request: Dispatcher.DispatchOptions,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  let carrier: Carrier | undefined;
  group.dispatch(destinationId, request, {
    assigned: (connection) => {
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

test('a retired group closes idle connections immediately, and connections in use when they become free', async (t) => {
  const { group, request } = await start(t);
  await exchange(group, 'idle', request);
  const inUse = exchange(group, 'busy', request);
  assert.equal(group.size, 2);
  group.retire();
  assert.equal(group.size, 1);
  await inUse;
  assert.equal(group.size, 0);
});

test('a pool is removed with its last connection', async (t) => {
  const { server, group, request } = await start(t);
  const ids = Array.from({ length: 20 }, (_, nth) => `destination-${nth % 10}`);

  const size = (): number => group.size;
  await Promise.all(ids.map((id) => exchange(group, id, request)));
  assert.equal(size(), 10);
  server.closeAllConnections();
  while (size() > 0) await new Promise(setImmediate);

  // Unreachable destinations leave no pools either.
  const unreachable = { ...request, origin: 'http://nowhere.example' };
  await Promise.all(ids.map((id) => assert.rejects(exchange(group, id, unreachable))));
  assert.equal(size(), 0);
});
