/** Endpoints in this process that accept all requests and count them. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Counter extends AsyncDisposable {
  readonly origins: readonly string[];
  /** Requests that have arrived. */
  readonly arrived: number;
  /** Whether one has arrived at this path of any origin. */
  has(path: string): boolean;
}

export async function startCounter(origins = 1): Promise<Counter> {
  let arrived = 0;
  const paths = new Set<string | undefined>();
  const servers = Array.from({ length: origins }, () =>
    createServer((request, response) => {
      request.resume().on('end', () => {
        arrived += 1;
        paths.add(request.url);
        response.writeHead(204).end();
      });
    }).listen(0, '127.0.0.1'),
  );
  await Promise.all(servers.map((server) => once(server, 'listening')));
  return {
    origins: servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    get arrived() {
      return arrived;
    },
    has: (path) => paths.has(path),
    async [Symbol.asyncDispose]() {
      const closed = servers.map((server) => once(server, 'close'));
      for (const server of servers) server.close().closeAllConnections();
      await Promise.all(closed);
    },
  };
}
