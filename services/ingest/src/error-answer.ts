/** Errors as senders see them: `code` and `message` at the top of a JSON object, which SDKs read. */
import { STATUS_CODES } from 'node:http';
import { isTailraceError, TailraceError, type ErrorCode } from '@tailrace/errors';

export interface ErrorAnswer {
  readonly code: ErrorCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Seconds, where the error does not say: a buffer drains in no time, brokers need some to come back. */
const retryAfterS = { overloaded: 1, 'shutting-down': 1, other: 5 } as const;

/**
 * The answer to a request that failed with `error`. Anything unexpected is a defect, and answered as one: it
 * concerns one request, whose sender is told, and must not take the server from all others.
 */
export function errorAnswer(error: unknown): ErrorAnswer {
  const known = isTailraceError(error) ? error : new TailraceError('internal-error');
  const { code, status, message } = known;
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (status === 429 || status === 503) {
    const byCode = code === 'overloaded' || code === 'shutting-down' ? retryAfterS[code] : retryAfterS.other;
    headers['retry-after'] = String(known.retryAfterS ?? byCode);
  }
  return { code, status, headers, body: Buffer.from(JSON.stringify({ code, message })) };
}

/** The bytes to write to a connection whose request never became one. */
export function clientErrorAnswer(
  error: NodeJS.ErrnoException,
  corsHeaders: Readonly<Record<string, string>>,
): string {
  const code = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'request-timeout' : 'malformed-request';
  const { status, headers, body } = errorAnswer(new TailraceError(code));
  const lines = Object.entries({
    ...corsHeaders,
    ...headers,
    'content-length': body.length,
    connection: 'close',
  });
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    ...lines.map(([name, value]) => `${name}: ${value}`),
    '',
    body.toString(),
  ].join('\r\n');
}
