/** A schema registry for a test, with a gate that the test can close. */
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import { freePort, startRegistry } from '@tailrace/local';
import { uniquePrefix } from './topics.ts';

export interface TestRegistry extends AsyncDisposable {
  /** Where tests register their schemas; always available. */
  readonly url: string;
  /** The same registry, for the service under test. */
  readonly gateUrl: string;
  /** Closes `gateUrl`. */
  shut(): Promise<void>;
  open(): Promise<void>;
}

export async function startTestRegistry(brokers: readonly string[]): Promise<TestRegistry> {
  const registry = await startRegistry({
    env: process.env,
    brokers,
    topicPrefix: uniquePrefix(),
    quickStart: true,
  });
  const { origin, pathname } = new URL(registry.url);
  const port = await freePort();
  let server: Server | undefined;

  const open = async (): Promise<void> => {
    server = createServer((asked, answer) => {
      const { method, headers, url = '' } = asked;
      const passedOn = request(`${origin}${url}`, { method, headers }, (response) => {
        answer.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(answer);
      });
      passedOn.on('error', () => answer.destroy());
      asked.pipe(passedOn);
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  const shut = async (): Promise<void> => {
    if (!server) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
    server = undefined;
  };

  await open();
  return {
    url: registry.url,
    gateUrl: `http://127.0.0.1:${port}${pathname}`,
    shut,
    open,
    async [Symbol.asyncDispose]() {
      await shut();
      await registry.stop();
    },
  };
}
