/** The sender of webhooks, and raw servers that do not have to follow HTTP. */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import type { TlsSettings } from '@tailrace/config';
import {
  createAddressPolicy,
  createSender,
  type Answer,
  type Keeping,
  type Sender,
  type SenderOptions,
} from '@tailrace/webhook';
import { limitMs } from '@tailrace/testing';
import { pace, steadily } from '../steadily.ts';
import { certificates } from './certificates.ts';

/** Allows loopback only. */
export const loopback = createAddressPolicy([{ address: '127.0.0.0', prefix: 8, family: 'ipv4' }]);
/** For tests of the timeout. */
export const briefMs = 300;

/** A sender that may reach loopback and trusts the tests' authority. */
export function openSender(t: TestContext, options: Partial<SenderOptions> = {}): Sender {
  const sender = createSender({
    // This timeout never ends a request.
    timeoutMs: limitMs,
    policy: loopback,
    authorities: [certificates().authority],
    ...options,
  });
  t.after(() => sender.close());
  return sender;
}

export interface PostOptions {
  readonly destinationId?: string;
  readonly path?: string;
  readonly body?: string | Buffer;
  readonly headers?: readonly string[];
  readonly tls?: TlsSettings;
  readonly keep?: Keeping;
  readonly timeoutMs?: number;
  readonly proxy?: 'none';
}

export function post(sender: Sender, origin: string, options: PostOptions = {}): Promise<Answer> {
  const { destinationId = 'destination', path = '/hook?a=1', body = '{"type":"track"}' } = options;
  const { headers = [], tls, keep, timeoutMs, proxy } = options;
  return sender.send({
    destinationId,
    origin,
    path,
    headers: ['Content-Type', 'application/json', 'User-Agent', 'Tailrace/1.0', ...headers],
    body: Buffer.from(body),
    tls,
    keep,
    timeoutMs,
    proxy,
  });
}

export interface RawServer {
  /** `127.0.0.1:<port>` */
  readonly host: string;
  /** All accepted connections. */
  readonly sockets: readonly Socket[];
  /** Resolves when the first of them has ended. */
  readonly hungUp: Promise<void>;
}

/** A TCP server; `onConnection` writes any bytes. */
export async function startRawServer(
  t: TestContext,
  onConnection: (socket: Socket, nth: number) => void,
  { reads = true } = {},
): Promise<RawServer> {
  const sockets: Socket[] = [];
  const hungUp = Promise.withResolvers<undefined>();
  const server = createServer({ pauseOnConnect: !reads }, (socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => {
      hungUp.resolve(undefined);
    });
    if (reads) socket.resume();
    onConnection(socket, sockets.length);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, sockets, hungUp: hungUp.promise };
}

/** Calls `onRequest` with each request of `socket`; requests must have at most one JSON body. */
export function onRequests(socket: Socket, onRequest: (request: string, nth: number) => void): void {
  let text = '';
  let count = 0;
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
    for (;;) {
      const headersEnd = text.indexOf('\r\n\r\n') + 4;
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
      if (headersEnd < 4 || text.length < headersEnd + length) return;
      const request = text.slice(0, headersEnd + length);
      text = text.slice(headersEnd + length);
      count += 1;
      onRequest(request, count);
    }
  });
}

/** Writes `text` every few milliseconds until the peer disconnects. */
export function writeForEver(socket: Socket, text: string): void {
  const writing = steadily(5, () => socket.write(text));
  socket.once('close', () => {
    writing[Symbol.dispose]();
  });
}

/** Writes `text` late, when the first bytes of a request have probably arrived. */
export function writeLate(socket: Socket, text: string): void {
  void pace(50).then(() => socket.write(text));
}

/** Writes `chunk` as fast as the peer reads, until it disconnects. */
export function pourForEver(socket: Socket, chunk: Buffer): void {
  const pour = (): void => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', pour);
  pour();
}
