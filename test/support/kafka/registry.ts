/** Schema registries for tests, which a test can stop: a real one, and one whose answers the test decides. */
import { request } from 'node:http';
import { startRegistry } from '@tailrace/local';
import { startClosableServer, type TestRegistry } from '@tailrace/registry/testing';
import { uniquePrefix } from './topics.ts';

export { frame, startFaultyRegistry, type FaultyRegistry } from '@tailrace/registry/testing';

export interface RealRegistry extends TestRegistry {
  /** For the test, which registers schemas here; always available. */
  readonly adminUrl: string;
}

/** A registry that keeps its schemas in Kafka, behind a proxy that the test can stop. */
export async function startRealRegistry(brokers: readonly string[]): Promise<RealRegistry> {
  const registry = await startRegistry({
    env: process.env,
    brokers,
    topicPrefix: uniquePrefix(),
    quickStart: true,
  });
  const { origin, pathname } = new URL(registry.url);
  const proxy = await startClosableServer((received, response) => {
    const { method, headers, url = '' } = received;
    const forwarded = request(`${origin}${url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    forwarded.on('error', () => response.destroy());
    received.pipe(forwarded);
  });
  return {
    adminUrl: registry.url,
    url: `${proxy.url}${pathname}`,
    shut() {
      proxy.shut();
    },
    open() {
      proxy.open();
    },
    async [Symbol.asyncDispose]() {
      await proxy.close();
      await registry.stop();
    },
  };
}
