/**
 * A web server that records its requests, and sends the last ones before it ends. With Node 22.18 or later, which
 * runs TypeScript: `TAILRACE_ENDPOINT=http://127.0.0.1:8080 WRITE_KEY=wk_demo node server.ts`.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Analytics } from '@tailrace/analytics-node';

const {
  TAILRACE_ENDPOINT: endpoint = 'http://127.0.0.1:8080',
  WRITE_KEY: writeKey = 'wk_demo',
  PORT,
} = process.env;

interface Events {
  'Request Served': { path: string; status: number };
}

const analytics = new Analytics<Events>({
  writeKey,
  endpoint,
  context: { app: { name: 'shop', version: '1.4.0' } },
  onError: ({ code, message, calls }) => {
    console.error(`${code}: ${message}`, calls);
  },
});

const server = createServer((request, response) => {
  response.writeHead(200, { 'content-type': 'text/plain' }).end('hello\n');
  const path = new URL(request.url ?? '/', 'http://localhost').pathname;
  // Returns within microseconds. It returns false where the queue is full, and throws only on a mistake in the call.
  analytics.track({
    anonymousId: request.socket.remoteAddress ?? 'unknown',
    event: 'Request Served',
    properties: { path, status: response.statusCode },
  });
});

server.listen(Number(PORT ?? 3000), '127.0.0.1');
await once(server, 'listening');
console.log('listening', server.address());

process.once('SIGTERM', () => {
  // New requests are refused, open ones finish, and then the queued calls are sent.
  server.close(() => {
    void analytics.close({ deadlineMs: 5_000 }).then(({ unsent }) => {
      process.exitCode = unsent === 0 ? 0 : 1;
    });
  });
  server.closeIdleConnections();
});
