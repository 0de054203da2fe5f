import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startServer } from './patches/testing/server.ts';
import { openSockets } from './sockets.ts';

test('sockets do not keep the process alive after the client is closed', async (t) => {
  const address = await startServer(t);
  const sockets = openSockets();
  const open = async (): Promise<void> => {
    const onConnect = Promise.withResolvers<undefined>();
    const socket = sockets.factory({
      ...address,
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
