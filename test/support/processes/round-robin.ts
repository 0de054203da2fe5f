/** A proxy that sends each request to another server, in turn, as a load balancer without stickiness does. */
import { once } from 'node:events';
import { createServer, request as sendRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';

export interface RoundRobin extends AsyncDisposable {
  readonly url: string;
}

/** @param targets URLs of servers; the first request goes to the first one */
export async function startRoundRobin(targets: readonly string[]): Promise<RoundRobin> {
  let count = 0;
  const server = createServer((request, response) => {
    const target = targets[count++ % targets.length] ?? '';
    const { method, url = '', headers } = request;
    // A connection for each request, so that a connection of the client does not decide which server gets it.
    const onward = sendRequest(new URL(url, target), { method, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      pipeline(answer, response, () => undefined);
    });
    onward.on('error', () => {
      if (!response.headersSent) response.writeHead(502);
      response.end();
    });
    // A client that goes away ends the request to the server, too: a stream would never end otherwise.
    response.on('close', () => onward.destroy());
    pipeline(request, onward, () => undefined);
  });
  // A client must not send a request on a connection that is being closed because it was idle.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
