/**
 * Responses: errors in the form that SDKs read, a JSON object with `code` and `message`, and CORS headers on every
 * response.
 */
import { isTailraceError, TailraceError, type ErrorCode } from '@tailrace/errors';
import { hasRetryAfter } from '@tailrace/service';

export interface Answer {
  readonly status: number;
  /** Names and values alternate, as node:http writes them. */
  readonly headers: string[];
  /** A string is sent in the same write as the head. A buffer costs a second write. */
  readonly body: string | Buffer;
}

export interface ErrorAnswer extends Answer {
  readonly body: string;
  readonly code: ErrorCode;
}

/** Browsers hide responses without CORS headers, including errors. */
const corsHeaders = ['access-control-allow-origin', '*', 'access-control-expose-headers', 'Retry-After'];

const preflightHeaders = [
  'access-control-allow-methods',
  'GET, POST, OPTIONS',
  'access-control-allow-headers',
  'Authorization, Content-Type, X-Retry-Count',
  'access-control-max-age',
  '86400',
];

/** Seconds, where the error has no value. Memory is free again within a second; brokers need longer to recover. */
const retryAfterS = { overloaded: 1, 'shutting-down': 1, other: 5 } as const;

/** Exactly `application/json`, because some SDKs do not expect a charset. */
export function jsonAnswer<Body extends string | Buffer>(
  status: number,
  json: Body,
  headers: readonly string[] = [],
): Answer & { readonly body: Body } {
  return answer(status, json, ['content-type', 'application/json', ...headers]);
}

export function answer<Body extends string | Buffer>(
  status: number,
  body: Body,
  headers: readonly string[],
): Answer & { readonly body: Body } {
  const length = ['content-length', String(Buffer.byteLength(body))];
  return { status, headers: [...headers, ...length, ...corsHeaders], body };
}

/** Several SDKs count only status 200 with a JSON object as success, and otherwise send everything again. */
export const success = jsonAnswer(200, '{"success":true}');

export const preflight: Answer = { status: 204, headers: [...corsHeaders, ...preflightHeaders], body: '' };

/**
 * The response to a request that failed with `error`. An unexpected error is a defect of one request. Its sender
 * gets a 500, and the server continues for the others.
 */
export function errorAnswer(error: unknown): ErrorAnswer {
  const known = isTailraceError(error) ? error : new TailraceError('internal-error');
  const { code, status, message } = known;
  const headers: string[] = [];
  if (hasRetryAfter(status)) {
    const byCode = code === 'overloaded' || code === 'shutting-down' ? retryAfterS[code] : retryAfterS.other;
    headers.push('retry-after', String(known.retryAfterS ?? byCode));
  }
  return { code, ...jsonAnswer(status, JSON.stringify({ code, message }), headers) };
}
