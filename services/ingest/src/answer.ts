/** What is sent back: errors as SDKs read them, `code` and `message` at the top of a JSON object, and all with CORS. */
import { STATUS_CODES } from 'node:http';
import { isTailraceError, TailraceError, type ErrorCode } from '@tailrace/errors';

export interface Answer {
  readonly status: number;
  /** Names and values in turn, which node:http writes as they are. */
  readonly headers: string[];
  /** A text goes into the same write as the head; bytes cost a second one. */
  readonly body: string | Buffer;
}

export interface ErrorAnswer extends Answer {
  readonly code: ErrorCode;
}

/** Browsers hide any answer, errors too, that has no CORS headers. */
const corsHeaders = ['access-control-allow-origin', '*', 'access-control-expose-headers', 'Retry-After'];

const preflightHeaders = [
  ...['access-control-allow-methods', 'GET, POST, OPTIONS'],
  ...['access-control-allow-headers', 'Authorization, Content-Type, X-Retry-Count'],
  ...['access-control-max-age', '86400'],
];

/** Seconds, where the error does not say: a buffer drains in no time, brokers need some to come back. */
const retryAfterS = { overloaded: 1, 'shutting-down': 1, other: 5 } as const;

/** Exactly `application/json`: a charset behind it is not what every SDK expects. */
export function jsonAnswer(status: number, json: string | Buffer, headers: readonly string[] = []): Answer {
  return answer(status, json, ['content-type', 'application/json', ...headers]);
}

export function answer(status: number, body: string | Buffer, headers: readonly string[]): Answer {
  const length = ['content-length', String(Buffer.byteLength(body))];
  return { status, headers: [...headers, ...length, ...corsHeaders], body };
}

/** Several SDKs take only status 200 with a JSON object for success, and send everything again otherwise. */
export const success = jsonAnswer(200, '{"success":true}');

export const preflight: Answer = { status: 204, headers: [...corsHeaders, ...preflightHeaders], body: '' };

/**
 * The answer to a request that failed with `error`. Anything unexpected is a defect, and answered as one: it
 * concerns one request, whose sender is told, and must not take the server from all others.
 */
export function errorAnswer(error: unknown): ErrorAnswer {
  const known = isTailraceError(error) ? error : new TailraceError('internal-error');
  const { code, status, message } = known;
  const headers: string[] = [];
  if (status === 429 || status === 503) {
    const byCode = code === 'overloaded' || code === 'shutting-down' ? retryAfterS[code] : retryAfterS.other;
    headers.push('retry-after', String(known.retryAfterS ?? byCode));
  }
  return { code, ...jsonAnswer(status, JSON.stringify({ code, message }), headers) };
}

/** The answer to bytes that never became a request. */
export function clientErrorAnswer(error: NodeJS.ErrnoException): ErrorAnswer {
  const timedOut = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  return errorAnswer(new TailraceError(timedOut ? 'request-timeout' : 'malformed-request'));
}

/** `answer` as the bytes of an HTTP response after which the connection ends. */
export function httpText({ status, headers, body }: Answer): string {
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, 'connection: close'];
  for (let index = 0; index < headers.length; index += 2) {
    lines.push(`${headers[index] ?? ''}: ${headers[index + 1] ?? ''}`);
  }
  return [...lines, '', body.toString()].join('\r\n');
}
