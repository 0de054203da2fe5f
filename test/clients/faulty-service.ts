/** A server in the place of ingest that stores batches, and fails in one way. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { eventually } from '@tailrace/testing';
import { pace } from '../support/steadily.ts';

export const faults = ['answers', 'stalls', 'fails', 'refuses', 'resets', 'trickles', 'restarts'] as const;
export type Fault = (typeof faults)[number];

export interface FaultyService extends AsyncDisposable {
  readonly url: string;
  /** The ids of the calls that were stored, each as often as it was. */
  readonly stored: ReadonlyMap<string, number>;
  readonly requests: number;
  readonly openConnections: number;
}

interface Exchange {
  readonly ids: readonly string[];
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The number of this request, from 1. */
  readonly nth: number;
  readonly store: () => void;
}

/** The calls that the service that refuses never takes. */
export const isPoison = (id: string): boolean => Number(id.slice(2)) % 997 === 500;

const success = '{"success":true}';

/** The answer of a service to a request that it has read. */
const behaviours: Readonly<Record<Fault, (exchange: Exchange) => Promise<void> | void>> = {
  answers: ({ store, response }) => {
    store();
    response.end(success);
  },
  stalls: ({ store, response, nth }) => {
    if (nth % 3 === 1) return;
    store();
    if (nth % 3 === 2 && nth < 12) return;
    response.end(success);
  },
  fails: ({ store, response, nth }) => {
    const status = [503, 200, 500, 408, 200, 429, 502][nth % 7] ?? 200;
    if (status !== 200 && nth % 2 === 0) {
      response.writeHead(status).end('{"code":"no"}');
      return;
    }
    store();
    // A failure after the calls were stored: the client sends them again.
    response.writeHead(nth % 5 === 0 ? 503 : 200).end(success);
  },
  refuses: ({ ids, store, response }) => {
    if (ids.length > 400) response.writeHead(413).end();
    else if (ids.some(isPoison)) response.writeHead(400).end('{"code":"invalid-call","message":"No."}');
    else {
      store();
      response.end(success);
    }
  },
  resets: ({ store, request, response, nth }) => {
    if (nth % 4 === 1) request.socket.resetAndDestroy();
    else {
      store();
      if (nth % 4 === 2) request.socket.resetAndDestroy();
      else if (nth % 4 === 3) {
        response.writeHead(200, { 'content-length': '100' });
        response.write(success, () => request.socket.destroy());
      } else response.end(success);
    }
  },
  async trickles({ store, response, nth }) {
    store();
    response.writeHead(200, { 'content-length': String(success.length) });
    // Every third answer takes longer than the client waits.
    const delayMs = nth % 3 === 0 ? 100 : 1;
    for (const byte of success) {
      if (response.destroyed) return;
      response.write(byte);
      await pace(delayMs);
    }
    response.end();
  },
  restarts: ({ store, response }) => {
    store();
    response.end(success);
  },
};

export async function startFaultyService(fault: Fault): Promise<FaultyService> {
  const stored = new Map<string, number>();
  const sockets = new Set<Socket>();
  let requests = 0;
  let closed = false as boolean;

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { batch } = JSON.parse(await text(request)) as { batch: { messageId: string }[] };
    const ids = batch.map(({ messageId }) => messageId);
    const store = (): void => {
      for (const id of ids) stored.set(id, (stored.get(id) ?? 0) + 1);
    };
    await behaviours[fault]({ ids, request, response, nth: ++requests, store });
  };
  const listen = async (port: number): Promise<Server> => {
    const server = createServer((request, response) => {
      // The client has ended the request.
      handle(request, response).catch(() => response.destroy());
    });
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };
  const stop = async (server: Server): Promise<void> => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };

  let server = await listen(0);
  const { port } = server.address() as AddressInfo;
  const restarting = (async () => {
    for (let turn = 0; fault === 'restarts' && turn < 10; turn++) {
      const before = requests;
      await eventually(() => requests >= before + 2 || closed);
      if (closed) return;
      await stop(server);
      await pace(50);
      server = await listen(port);
    }
  })();

  return {
    url: `http://127.0.0.1:${port}`,
    stored,
    get requests() {
      return requests;
    },
    get openConnections() {
      return sockets.size;
    },
    [Symbol.asyncDispose]: async () => {
      closed = true;
      await restarting;
      await stop(server);
    },
  };
}
