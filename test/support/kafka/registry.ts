/** Schema registries for tests, which a test can stop: a real one, and one whose answers the test decides. */
import { once } from 'node:events';
import { createServer, request, type RequestListener, type Server } from 'node:http';
import { freePort, startRegistry } from '@tailrace/local';
import { uniquePrefix } from './topics.ts';

export interface TestRegistry extends AsyncDisposable {
  /** For the service under test. */
  readonly url: string;
  /** Stops listening at `url`. */
  shut(): Promise<void>;
  open(): Promise<void>;
}

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
    shut: proxy.shut,
    open: proxy.open,
    async [Symbol.asyncDispose]() {
      await proxy.shut();
      await registry.stop();
    },
  };
}

/** The answer to a request for a schema: a status, or none. */
export type Fault = 200 | 404 | 500 | 'hangs';

export interface FaultyRegistry extends TestRegistry {
  /** The number of requests of any kind. */
  readonly requests: number;
  /** Sets the answer for an id; default 200. */
  answers(fault: (schemaId: number) => Fault): void;
}

/** Every schema of this registry is a JSON Schema that accepts any value. */
export async function startFaultyRegistry(): Promise<FaultyRegistry> {
  let requests = 0;
  let faultOf: (schemaId: number) => Fault = () => 200;
  const server = await startClosableServer(({ url = '' }, response) => {
    requests += 1;
    const send = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    const id = /^\/schemas\/ids\/(-?\d+)/.exec(url)?.[1];
    if (id === undefined) {
      send(200, []);
      return;
    }
    const fault = faultOf(Number(id));
    if (fault === 200) send(200, { schemaType: 'JSON', schema: `{"title":"${id}"}` });
    else if (fault !== 'hangs') send(fault, { error_code: fault * 100, message: 'set by the test' });
  });
  return {
    url: server.url,
    get requests() {
      return requests;
    },
    answers(fault) {
      faultOf = fault;
    },
    open: server.open,
    shut: server.shut,
    [Symbol.asyncDispose]: server.shut,
  };
}

/** A value in Confluent wire format. An object is encoded as JSON. */
export function frame(schemaId: number, value: object): Buffer {
  const payload = Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value));
  const header = Buffer.alloc(5);
  header.writeInt32BE(schemaId, 1);
  return Buffer.concat([header, payload]);
}

async function startClosableServer(listener: RequestListener) {
  const port = await freePort();
  let server: Server | undefined;
  const open = async (): Promise<void> => {
    server = createServer(listener);
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
  return { url: `http://127.0.0.1:${port}`, open, shut };
}
