/**
 * Finds free ports on loopback.
 *
 * They are below the range for outgoing connections (32768 and up on Linux, 49152 on macOS). Otherwise a client
 * that keeps dialling a broker that is down could get the dialled port as its own, connect to itself, and block the
 * broker's port.
 */
import { createServer } from 'node:net';
import { randomInt } from 'node:crypto';

const firstPort = 20_000;
const lastPort = 32_000;

export const loopback = '127.0.0.1';

/** A free port on loopback: `preferred` where it is free. */
export async function freePort(preferred?: number): Promise<number> {
  if (preferred !== undefined && (await isFree(preferred, loopback))) return preferred;
  for (;;) {
    const port = randomInt(firstPort, lastPort);
    if (await isFree(port, loopback)) return port;
  }
}

/** Whether `port` is free at `host`, or on all interfaces without a host. */
export function isFree(port: number, host?: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => {
      resolve(false);
    });
    server.listen({ port, ...(host !== undefined && { host }), exclusive: true }, () => {
      server.close(() => {
        resolve(true);
      });
    });
  });
}
