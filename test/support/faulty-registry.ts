/** A schema registry that fails as the test says. Every schema is a JSON Schema that accepts any value. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { freePort } from '@tailrace/local';

/** Its answer to a request for a schema: a status, or none. */
export type Fault = 200 | 404 | 500 | 'hangs';

export interface FaultyRegistry extends AsyncDisposable {
  readonly url: string;
  /** The number of requests of any kind. */
  readonly requests: number;
  /** Sets the answer for an id; default 200. */
  answers(fault: (schemaId: number) => Fault): void;
  /** Stops listening. */
  shut(): Promise<void>;
  open(): Promise<void>;
}

export async function startFaultyRegistry(): Promise<FaultyRegistry> {
  const port = await freePort();
  let requests = 0;
  let faultOf: (schemaId: number) => Fault = () => 200;
  let server: Server | undefined;

  const open = async (): Promise<void> => {
    server = createServer(({ url = '' }, response) => {
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
      else if (fault !== 'hangs') send(fault, { error_code: fault * 100, message: 'as the test wants it' });
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
    url: `http://127.0.0.1:${port}`,
    get requests() {
      return requests;
    },
    answers(fault) {
      faultOf = fault;
    },
    open,
    shut,
    [Symbol.asyncDispose]: shut,
  };
}

/** A value in wire format. */
export function framed(schemaId: number, value: unknown): Buffer {
  const header = Buffer.alloc(5);
  header.writeInt32BE(schemaId, 1);
  return Buffer.concat([header, Buffer.from(JSON.stringify(value))]);
}
