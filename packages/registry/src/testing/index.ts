/** A schema registry for tests, which a test can stop, and whose answers the test decides. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface TestRegistry extends AsyncDisposable {
  /** For the service under test. */
  readonly url: string;
  /** Closes every connection at `url` without an answer, until `open`. */
  readonly shut: () => void;
  readonly open: () => void;
}

/** The answer to a request for a schema: a status, or none. */
export type Fault = 200 | 404 | 500 | 'hangs';

export interface FaultyRegistry extends TestRegistry {
  /** The number of requests of any kind. */
  readonly requests: number;
  /** Sets the answer for an id, also for requests that hang; default 200. */
  answers(fault: (schemaId: number) => Fault): void;
}

/** Every schema of this registry is a JSON Schema that accepts any value. */
export async function startFaultyRegistry(): Promise<FaultyRegistry> {
  let requests = 0;
  let faultOf: (schemaId: number) => Fault = () => 200;
  let hanging: (() => void)[] = [];
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
    const answer = (): void => {
      const fault = faultOf(Number(id));
      if (fault === 200) send(200, { schemaType: 'JSON', schema: `{"title":"${id}"}` });
      else if (fault === 'hangs') hanging.push(answer);
      else send(fault, { error_code: fault * 100, message: 'set by the test' });
    };
    answer();
  });
  return {
    url: server.url,
    get requests() {
      return requests;
    },
    answers(fault) {
      faultOf = fault;
      const waiting = hanging;
      hanging = [];
      for (const answer of waiting) answer();
    },
    open() {
      server.open();
    },
    shut() {
      server.shut();
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}

/** A value in Confluent wire format. An object is encoded as JSON. */
export function frame(schemaId: number, value: object): Buffer {
  const payload = Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value));
  const header = Buffer.alloc(5);
  header.writeInt32BE(schemaId, 1);
  return Buffer.concat([header, payload]);
}

/** The server keeps its port while it is shut, so that nothing else can listen there. */
export async function startClosableServer(listener: RequestListener) {
  const sockets = new Set<Socket>();
  let isShut = false;
  const server = createServer(listener).listen(0, '127.0.0.1');
  server.on('connection', (socket) => {
    if (isShut) socket.destroy();
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await once(server, 'listening');
  const shut = (): void => {
    isShut = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    shut,
    open() {
      isShut = false;
    },
    async close(): Promise<void> {
      shut();
      server.close();
      await once(server, 'close');
    },
  };
}
