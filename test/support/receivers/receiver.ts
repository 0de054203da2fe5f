/**
 * A webhook receiver on loopback: a real HTTP or HTTPS server that records requests and answers as configured. The answer
 * is a function of the request; `answers.ts` has the behaviours.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { status, type Answer } from './answers.ts';
import type { Certificate } from './certificates.ts';
import { collect, type Collected } from '@tailrace/testing';

export { closedPort } from './closed-port.ts';

export interface ReceivedRequest {
  /** 1 for the first request of this receiver. */
  readonly nth: number;
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Names as spelled on the wire, in their order. */
  readonly rawHeaders: readonly (readonly [name: string, value: string])[];
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
  /** When the request's headers had arrived, in milliseconds since the epoch. */
  readonly receivedAt: number;
  readonly json: () => unknown;
}

export interface Receiver extends AsyncDisposable {
  /** Origin, without a trailing slash: `http://127.0.0.1:41234`. */
  readonly url: string;
  readonly port: number;
  readonly requests: readonly ReceivedRequest[];
  /** TCP connections accepted so far, whether or not a request followed. */
  readonly connections: Collected<{ readonly at: number }>;
  readonly waitFor: Collected<ReceivedRequest>['waitFor'];
  readonly find: Collected<ReceivedRequest>['find'];
  /** Presents another certificate to new connections. */
  renew(tls: Certificate): void;
  /** Ends every connection and frees the port. */
  close(): Promise<void>;
}

export interface ReceiverOptions {
  /** PEM; makes it an HTTPS server. With `clientAuthority` it requires a client certificate signed by that authority. */
  readonly tls?: { readonly key: string; readonly cert: string; readonly clientAuthority?: string };
  /** The answer to each request; `nth` counts from 1. Default: 200 without a body. */
  readonly answer?: (request: ReceivedRequest, nth: number) => Answer;
  /** Default: any free port. */
  readonly port?: number;
  /** An address of loopback; default 127.0.0.1. */
  readonly address?: string;
  /** Whether `requests` has them. Default true. */
  readonly keepsRequests?: boolean;
}

export async function startReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const { tls, answer = () => status(200), address = '127.0.0.1', keepsRequests = true } = options;
  const requests = collect<ReceivedRequest>('the receiver', show);
  const connections = collect<{ at: number }>('the receiver', ({ at }) => `connection at ${at}`);
  let begun = 0;

  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const receivedAt = Date.now();
    const nth = ++begun;
    const body = await buffer(incoming);
    const received = record(incoming, body, nth, receivedAt);
    const respond = answer(received, nth);
    if (keepsRequests) requests.add(received);
    respond(response);
  };
  const onRequest = (incoming: IncomingMessage, response: ServerResponse): void => {
    // An incomplete request is not recorded.
    handle(incoming, response).catch(() => response.destroy());
  };
  const secure = tls && createSecureServer(serverTls(tls), onRequest);
  const server: Server = secure ?? createServer(onRequest);
  server.on('connection', () => {
    connections.add({ at: Date.now() });
  });
  server.listen(options.port ?? 0, address);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  const close = async (): Promise<void> => {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  return {
    url: `${tls ? 'https' : 'http'}://${address}:${port}`,
    port,
    requests: requests.items,
    connections,
    waitFor: requests.waitFor,
    find: requests.find,
    renew: (certificate) => secure?.setSecureContext(certificate),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function serverTls({ key, cert, clientAuthority }: ReceiverOptions['tls'] & object): ServerOptions {
  return clientAuthority === undefined
    ? { key, cert }
    : { key, cert, ca: clientAuthority, requestCert: true };
}

function record(incoming: IncomingMessage, body: Buffer, nth: number, receivedAt: number): ReceivedRequest {
  const { rawHeaders } = incoming;
  const pairs = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ''] as const] : [],
  );
  return {
    nth,
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    rawHeaders: pairs,
    headers: Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value])),
    body,
    receivedAt,
    json: () => JSON.parse(body.toString()) as unknown,
  };
}

function show(request: ReceivedRequest): string {
  return `${request.nth}: ${request.method} ${request.path} ${request.body.toString().slice(0, 200)}`;
}
