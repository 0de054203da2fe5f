import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { openSockets } from '../../sockets.ts';
import { original, patched } from '../testing/original.ts';
import { startServer } from '../testing/server.ts';
import { silent } from '../testing/silent.ts';
import type { ConnectionPool } from './connection-pool.ts';

type PoolClass = new (options: object) => ConnectionPool & { destroy(): Promise<void> };

/** The sockets that two requests open at the same time. */
async function socketsOfTwo(t: TestContext, load: typeof original) {
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
  t.after(() => {
    sockets.release();
  });
  const [first, second] = await Promise.all([pool.getConnection(0), pool.getConnection(0)]);
  assert.equal(first, second);
  return { pool, sockets };
}

test('requests that need a connection at the same time open it once', async (t) => {
  const { pool, sockets } = await socketsOfTwo(t, patched);
  assert.equal(sockets.count, 1);
  await pool.getConnection(1);
  assert.equal(sockets.count, 2);
  await pool.destroy();
  await pool.getConnection(0);
  await pool.destroy();
});

test('the original opens a connection for each request', async (t) => {
  const { pool, sockets } = await socketsOfTwo(t, original);
  assert.equal(sockets.count, 2);
  await pool.destroy();
});
