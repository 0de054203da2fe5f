import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createServer, type AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { openSockets } from './library.ts';
import type { ConnectionPool } from './network.ts';

const require = createRequire(import.meta.url);
const Pool = require('kafkajs/src/network/connectionPool') as new (options: object) => ConnectionPool & {
  destroy(): Promise<void>;
};

const logger = { debug: () => undefined, error: () => undefined, namespace: (): unknown => logger };

/** Accepts connections, and answers nothing. */
async function startServer(t: TestContext) {
  let accepted = 0;
  const server = createServer((socket) => {
    accepted += 1;
    socket.unref();
    socket.on('error', () => undefined);
    socket.on('end', () => socket.end());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  return { port: (server.address() as AddressInfo).port, accepted: () => accepted };
}

test('requests that need a connection at the same time open it once', async (t) => {
  const server = await startServer(t);
  const sockets = openSockets();
  const address = { host: '127.0.0.1', port: server.port };
  const pool = new Pool({ ...address, logger, connectionTimeout: 5_000, socketFactory: sockets.factory });
  const [first, second] = await Promise.all([pool.getConnection(0), pool.getConnection(0)]);
  assert.equal(first, second);
  await pool.getConnection(1);
  assert.equal(sockets.count, 2);
  await pool.destroy();
  await pool.getConnection(0);
  await pool.destroy();
});

test('sockets do not keep the process alive after the client is closed', async (t) => {
  const server = await startServer(t);
  const sockets = openSockets();
  const open = async (): Promise<void> => {
    const onConnect = Promise.withResolvers<undefined>();
    const socket = sockets.factory({
      host: '127.0.0.1',
      port: server.port,
      ssl: undefined as never,
      onConnect: () => {
        onConnect.resolve(undefined);
      },
    });
    t.after(() => socket.destroy());
    await onConnect.promise;
  };
  const holding = (): number =>
    process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
  const before = holding();
  await open();
  assert.equal(holding(), before + 1);
  sockets.release();
  assert.equal(holding(), before);
  const late = open();
  assert.equal(holding(), before);
  // The server keeps the process alive until it is open.
  await late;
  assert.equal(holding(), before);
});
