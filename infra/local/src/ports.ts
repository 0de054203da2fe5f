/**
 * Finds free ports on loopback, for brokers and for `npm start` only: a broker must know its ports, and a cluster those of all
 * controllers, before it starts. Tests listen on port 0.
 *
 * The ports are below the range for outgoing connections (32768 and up on Linux, 49152 on macOS). Otherwise a client
 * that keeps dialling a broker that is down could get the dialled port as its own, connect to itself, and block the
 * broker's port.
 *
 * A program listens on its port only some time after the port was chosen for it. The process that chose it
 * therefore holds the port of the same number for UDP, which nothing else uses, until it ends: no other process chooses it meanwhile.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { randomInt } from 'node:crypto';

const firstPort = 20_000;
const lastPort = 32_000;

export const loopback = '127.0.0.1';

/** A free port on loopback: `preferred` where it is free, or else one that is chosen by no other process while this one runs. */
export async function freePort(preferred?: number): Promise<number> {
  if (preferred !== undefined && (await isFree(preferred, loopback))) return preferred;
  for (;;) {
    const port = randomInt(firstPort, lastPort);
    if ((await isFree(port, loopback)) && (await reservePort(port))) return port;
  }
}

/** Resolves with false where this process or another one has reserved the port. */
export async function reservePort(port: number): Promise<boolean> {
  const socket = createSocket('udp4').unref();
  socket.bind({ port, address: loopback, exclusive: true });
  try {
    await once(socket, 'listening');
    return true;
  } catch {
    socket.close();
    return false;
  }
}

/** Whether `port` is free at `host`, or on all interfaces without a host. */
export async function isFree(port: number, host?: string): Promise<boolean> {
  await using server = createServer().listen({ port, host, exclusive: true });
  return await once(server, 'listening').then(
    () => true,
    () => false,
  );
}
