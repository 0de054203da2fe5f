/** A client of ingest for tests, which may send anything. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';

export interface Sent {
  readonly path: string;
  readonly body?: unknown;
  /** Sent unchanged instead of `body`. */
  readonly bytes?: string | Buffer;
  /** Default `wk_web`. */
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  /** Origin of ingest. */
  readonly url: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly json: Readonly<Record<string, unknown>>;
}

/** Uses node:http, because fetch would correct odd paths and add headers. */
export async function sendTo({
  url,
  path,
  body,
  bytes,
  key = 'wk_web',
  headers,
  method = 'POST',
}: Sent): Promise<Answer> {
  const authorization = key === null ? {} : { authorization: `Basic ${btoa(`${key}:`)}` };
  const request = httpRequest(url, { path, method, headers: { ...authorization, ...headers } });
  request.end(bytes ?? (body === undefined ? undefined : JSON.stringify(body)));
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('latin1');
  const isJson = response.headers['content-type'] === 'application/json';
  const json = isJson ? (JSON.parse(text) as Record<string, unknown>) : {};
  return { status: response.statusCode ?? 0, headers: response.headers, text, json };
}

export function assertAccepted(answer: Answer): void {
  assert.deepEqual(
    [answer.status, answer.headers['content-type'], answer.text],
    [200, 'application/json', '{"success":true}'],
  );
}

export function assertRefused(answer: Answer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.json['code']], [status, code], answer.text);
  assert.equal(answer.headers['content-type'], 'application/json');
  assert.match(String(answer.json['message']), /\.$/);
  assert.equal(answer.headers['access-control-allow-origin'], '*');
}

/** A valid call, with the fields of `more`. */
export function call(
  more: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> & { messageId: string } {
  return { type: 'track', event: 'Tested', userId: 'ada', messageId: randomUUID(), ...more };
}

/** A connection on which a test writes any bytes. */
export interface RawConnection extends AsyncDisposable {
  readonly write: (bytes: string | Buffer) => void;
  /** Whether ingest or the test has closed it. */
  readonly closed: boolean;
  /** Resolves with everything received until it was closed. */
  readonly received: Promise<string>;
}

export async function connectRaw(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  // A client that is disconnected while it writes gets a reset after the answer.
  socket.on('error', () => undefined);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  return {
    write: (bytes) => void socket.write(bytes),
    get closed() {
      return socket.closed;
    },
    received: closed.then(() => Buffer.concat(chunks).toString()),
    async [Symbol.asyncDispose]() {
      socket.destroy();
      await closed;
    },
  };
}

/** Opens `count` connections, a hundred at a time. */
export async function openMany(url: string, count: number): Promise<RawConnection[]> {
  const connections: RawConnection[] = [];
  while (connections.length < count) {
    const next = Math.min(100, count - connections.length);
    connections.push(...(await Promise.all(Array.from({ length: next }, () => connectRaw(url)))));
  }
  return connections;
}

/** The status and error code of the HTTP answer in `text`. */
export function outcomeOf(text: string): readonly [status: number, code: unknown] {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]);
  return [status, (JSON.parse(body) as { code?: unknown }).code];
}
