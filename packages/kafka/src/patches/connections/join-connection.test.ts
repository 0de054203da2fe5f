import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { openSockets } from '../../sockets.ts';
import { original, patched } from '../testing/original.ts';
import { startServer } from '../testing/server.ts';
import { silent } from '../testing/silent.ts';
import type { ConnectionPool } from './connection-pool.ts';

type PoolClass = new (options: object) => ConnectionPool & { destroy(): Promise<void> };

/** The connections for requests to commit, to fetch, to join a group and to get an assignment. */
async function connectionsOf(t: TestContext, load: typeof original): Promise<unknown[]> {
  const address = await startServer(t);
  const sockets = openSockets();
  const Pool = load('network/connectionPool') as PoolClass;
  const pool = new Pool({
    ...address,
    logger: silent,
    connectionTimeout: 5_000,
    requestTimeout: 5_000,
    socketFactory: sockets.factory,
  });
  const connections: unknown[] = [];
  for (const apiKey of [8, 1, 11, 14])
    connections.push(await pool.getConnectionByRequest({ request: { apiKey } }));
  await pool.destroy();
  sockets.release();
  return connections;
}

test('a group is joined on another connection than it commits and fetches', async (t) => {
  const [commit, fetch, join, sync] = await connectionsOf(t, patched);
  assert.equal(join, sync);
  assert.equal(new Set([commit, fetch, join]).size, 3);
});

test('the original joins a group on the connection on which it commits', async (t) => {
  const [commit, fetch, join, sync] = await connectionsOf(t, original);
  assert.equal(join, commit);
  assert.equal(sync, commit);
  assert.notEqual(fetch, commit);
});
