/** A batch as an HTTP request and its response, for the transports of node:http and fetch. */
import type { Call } from './encode.ts';
import { invalidOption } from './errors.ts';
import { parseRetryAfter } from '../queue/retry.ts';
import { isoNow } from './timestamp.ts';
import type { Outcome, Rejection } from './transport.ts';

/** The rest of a longer response is not read. The longest response of ingest has about 5 MB. */
export const maxAnswerLength = 8 * 1024 * 1024;

export interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: string;
  /** The body is longer than `maxAnswerLength`, and was not read to its end. */
  readonly isTooLong: boolean;
}

/** `endpoint` is an origin, with or without a path that precedes `/v1/batch`, or the whole URL. */
export function batchUrl(endpoint: unknown): URL {
  const url = URL.canParse(String(endpoint)) ? new URL(String(endpoint)) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw invalidOption('endpoint', 'must be a URL that begins with http:// or https://');
  }
  const path = url.pathname.replace(/\/+$/, '');
  if (!/\/v1\/(batch|import)$/.test(path)) url.pathname = `${path}/v1/batch`;
  else url.pathname = path;
  return url;
}

/** The write key is the user name, and the password is empty. */
export function authorization(writeKey: string): string {
  let latin1 = '';
  for (const byte of new TextEncoder().encode(`${writeKey}:`)) latin1 += String.fromCharCode(byte);
  return `Basic ${btoa(latin1)}`;
}

/** `sentAt` is the time of this attempt. The server computes the clock difference from it. `head` is further fields. */
export function batchJson(calls: readonly Call[], context: string, head = ''): string {
  return `{${head}"batch":[${calls.map(({ json }) => json).join(',')}],"context":${context},"sentAt":"${isoNow()}"}`;
}

export function outcomeOf({ status, retryAfter, body, isTooLong }: Answer, count: number): Outcome {
  const isSuccess = status >= 200 && status < 300;
  if (isSuccess && isTooLong && count > 1) {
    // A part of the batch gets a shorter answer. The server drops repeated calls.
    return { kind: 'refused', status, reason: 'the answer was too long to read', divisible: true };
  }
  if (isSuccess && isPage(body)) {
    // A sign-in page or a proxy answers for the server.
    return { kind: 'failed', status, reason: `the answer ${status} is not one of Tailrace` };
  }
  if (isSuccess) return { kind: 'sent', status, rejected: rejectedIn(body, count) };
  const { code, message } = parseObject(body);
  const said = [code, message].filter((text) => typeof text === 'string').join(': ');
  const reason = said === '' ? `the server answered ${status}` : `the server answered ${status}, ${said}`;
  if (status === 408 || status === 429 || status >= 500) {
    const serverError = status >= 500 && retryAfter === undefined;
    const afterMs = parseRetryAfter(retryAfter);
    return { kind: 'failed', status, reason, afterMs, slow: status === 408, serverError };
  }
  // These concern all calls: the write key, the endpoint.
  const divisible = status >= 400 && status !== 401 && status !== 403 && status !== 404;
  return { kind: 'refused', status, reason, divisible, rejected: rejectedIn(body, count) };
}

/** Whether it is HTML or XML. Every other body of a success is one: test servers often answer with "ok". */
function isPage(body: string): boolean {
  return body.trimStart().startsWith('<');
}

/** The calls of the batch that the server rejected, with the reasons, each once. */
function rejectedIn(body: string, count: number): Rejection[] {
  // Fast path: nearly every response has no rejected call.
  if (!body.includes('"rejected"')) return [];
  const { rejected } = parseObject(body);
  if (!Array.isArray(rejected)) return [];
  const found = new Map<number, Rejection>();
  for (const entry of rejected as readonly unknown[]) {
    const { index, message } = Object(entry) as { readonly index?: unknown; readonly message?: unknown };
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= count) continue;
    const reason = typeof message === 'string' ? message : 'for no stated reason';
    if (!found.has(index)) found.set(index, { index, reason });
  }
  return [...found.values()];
}

/** Empty where it is not a JSON object. */
function parseObject(body: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(body)) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}
