/** A server that is no broker. */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

/** Accepts connections, and answers nothing. */
export async function startServer(
  t: TestContext,
  onData: (socket: Socket, data: Buffer) => void = () => undefined,
) {
  const server = createServer((socket) => {
    socket.unref();
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      onData(socket, data);
    });
    socket.on('end', () => socket.end());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
}
