/**
 * Ports on loopback for what is started here.
 *
 * They are taken from below the range that operating systems use for outgoing connections (32768 and up on
 * Linux, 49152 on macOS): a client that keeps dialling a broker which is down could otherwise be given the
 * very port it dials as its own, connect to itself, and so keep the broker from coming back.
 */
import { createServer } from 'node:net';
import { randomInt } from 'node:crypto';

const firstPort = 20_000;
const lastPort = 32_000;

export const loopback = '127.0.0.1';

/** A port on loopback that nothing listens on: `preferred` where that is free. */
export async function freePort(preferred?: number): Promise<number> {
  if (preferred !== undefined && (await isFree(preferred, loopback))) return preferred;
  for (;;) {
    const port = randomInt(firstPort, lastPort);
    if (await isFree(port, loopback)) return port;
  }
}

/** Whether `port` can be listened on at `host`, or on all interfaces where none is given. */
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
