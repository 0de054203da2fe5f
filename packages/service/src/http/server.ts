/**
 * The HTTP code that ingest (on node:http) and control (on fastify) share: responses to requests that the parser refused,
 * the OpenAPI description of errors, listening and closing.
 */
import { STATUS_CODES, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { errorTable, TailraceError, type ErrorCode } from '@tailrace/errors';

/** The error for a `clientError` of node:http: bytes that are not a request, or a request that arrived too slowly. */
export function clientError({ code }: NodeJS.ErrnoException): TailraceError {
  return new TailraceError(code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'request-timeout' : 'malformed-request');
}

/** The text of a response after which the connection closes. In `headers`, names and values alternate. */
export function closingResponse(status: number, headers: readonly string[], body: string): string {
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, 'connection: close'];
  for (let index = 0; index < headers.length; index += 2) {
    lines.push(`${headers[index] ?? ''}: ${headers[index + 1] ?? ''}`);
  }
  return [...lines, '', body].join('\r\n');
}

/** Whether responses with `status` have the header Retry-After. */
export function hasRetryAfter(status: number): boolean {
  return status === 429 || status === 503;
}

/**
 * OpenAPI responses for `codes`, one for each status, because OpenAPI cannot distinguish responses with the same status.
 *
 * @param schema of the body
 * @param retryAfter the description of the header Retry-After
 */
export function errorResponses(
  codes: Iterable<ErrorCode>,
  schema: object,
  retryAfter: object,
): Record<string, { readonly description: string; readonly headers?: object; readonly content: object }> {
  const byStatus = Map.groupBy(codes, (code) => errorTable[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => {
      const description = group.map((code) => `\`${code}\`: ${errorTable[code].meaning}`).join('; ');
      const headers = hasRetryAfter(status) && { headers: { 'Retry-After': retryAfter } };
      return [status, { description, ...headers, content: { 'application/json': { schema } } }];
    }),
  );
}

/** The open connections of each server that listens. */
const connections = new WeakMap<Server, Set<Socket>>();

/**
 * Stops accepting connections, and resolves when the requests in flight are answered. Connections that are still open
 * after `timeoutMs` are closed. Node closes idle connections, but takes one that has sent nothing yet for a busy one.
 */
export async function closeServer(server: Server, timeoutMs: number): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  for (const socket of connections.get(server) ?? []) if (socket.bytesRead === 0) socket.destroy();
  const late = await Promise.race([closed, wait(timeoutMs, 'late', { ref: false })]);
  if (late === 'late') server.closeAllConnections();
  await closed;
}

/**
 * Opens `server`, without a host on all interfaces, and returns the port; for port 0 the system chooses one.
 *
 * @throws TailraceError `invalid-settings` if the port cannot be opened; it names `setting`, the variable to change
 */
export async function listen(
  server: Server,
  { port, host }: { readonly port: number; readonly host?: string | undefined },
  setting: string,
): Promise<number> {
  const open = new Set<Socket>();
  connections.set(server, open);
  server.on('connection', (socket) => {
    open.add(socket.once('close', () => open.delete(socket)));
  });
  await new Promise<void>((listening, failed) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      failed(error.code === 'EADDRNOTAVAIL' ? foreignHost(host) : unusablePort(error, port, setting)),
    );
    server.listen({ port, ...(host !== undefined && { host }) }, listening);
  });
  return (server.address() as AddressInfo).port;
}

function foreignHost(host = ''): TailraceError {
  return new TailraceError(
    'invalid-settings',
    `TAILRACE_HOST: ${host} is not an address of this machine. Set it to one, or unset it to listen on all.`,
  );
}

/** The error to report after listening on `port` failed with `error`. */
function unusablePort(error: NodeJS.ErrnoException, port: number, setting: string): Error {
  const why = {
    EADDRINUSE: 'is in use by another process. Stop that process',
    EACCES: 'cannot be opened by this user. Allow it',
  }[error.code ?? ''];
  if (why === undefined) return error;
  return new TailraceError(
    'invalid-settings',
    `${setting}: port ${port} ${why}, or set ${setting} to another.`,
  );
}
