/**
 * Classifies the result of a request as success, retryable or permanent failure: HTTP statuses, network errors and TLS
 * errors. The results of one request to one URL are a closed union.
 */

import type { PermanentReason, RequestRetryReason } from '@tailrace/metrics';
import type { KeptExchange } from './kept-exchange.ts';

/** The result of one request to one URL. */
export type Answer = Outcome & {
  /** Where the request asked for it. */
  readonly exchange?: KeptExchange;
};

type Outcome =
  | { readonly kind: 'success'; readonly status: number }
  | {
      readonly kind: 'retryable';
      readonly reason: RequestRetryReason;
      readonly status?: number;
      /** The delay from now that the receiver asks for with Retry-After. */
      readonly retryAfterMs?: number;
      readonly detail?: string;
    }
  | {
      readonly kind: 'permanent';
      readonly reason: PermanentReason;
      readonly status?: number;
      readonly detail?: string;
    };

/**
 * @param retryAfter the value of the header
 * @param now milliseconds since the epoch
 * @param retryOn the statuses that are retried; by default 408, 429 and 5xx
 */
export function classifyStatus(
  status: number,
  retryAfter: string | undefined,
  now: number,
  retryOn?: ReadonlySet<number>,
): Answer {
  if (status >= 200 && status < 300) return { kind: 'success', status };
  if (retryOn ? retryOn.has(status) : isTemporary(status)) {
    const retryAfterMs = parseRetryAfter(retryAfter, now);
    const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
    return { kind: 'retryable', reason: retryReasonOf(status), status, ...wait };
  }
  if (status >= 300 && status < 400) return { kind: 'permanent', reason: 'redirect', status };
  if (status >= 400 && status < 500) return { kind: 'permanent', reason: 'client-error', status };
  if (status >= 500 && status < 600) return { kind: 'permanent', reason: 'server-error', status };
  return { kind: 'permanent', reason: 'unexpected-status', status };
}

function isTemporary(status: number): boolean {
  return status === 408 || status === 429 || (status >= 500 && status < 600);
}

function retryReasonOf(status: number): RequestRetryReason {
  if (status === 429) return 'too-many-requests';
  if (status === 408) return 'request-timeout';
  return status >= 500 ? 'server-error' : 'client-error';
}

/** By the code of the error, from Node, undici and OpenSSL. */
const retryReasons: Readonly<Record<string, RequestRetryReason>> = {
  ECONNREFUSED: 'connection-refused',
  ECONNRESET: 'connection-reset',
  EPIPE: 'connection-reset',
  UND_ERR_SOCKET: 'connection-reset',
  ENOTFOUND: 'dns-failure',
  EAI_AGAIN: 'dns-failure',
  EAI_FAIL: 'dns-failure',
  EAI_NODATA: 'dns-failure',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  CERT_HAS_EXPIRED: 'certificate-expired',
  CERT_NOT_YET_VALID: 'certificate-expired',
  PROXY_REFUSED: 'proxy-refused',
  PROXY_UNAUTHORIZED: 'proxy-unauthorized',
  PROXY_UNREACHABLE: 'proxy-unreachable',
};

const permanentReasons: Readonly<Record<string, PermanentReason>> = {
  ADDRESS_NOT_ALLOWED: 'address-not-allowed',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'self-signed-certificate',
  SELF_SIGNED_CERT_IN_CHAIN: 'untrusted-certificate',
  UNABLE_TO_GET_ISSUER_CERT: 'untrusted-certificate',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'untrusted-certificate',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'untrusted-certificate',
  CERT_UNTRUSTED: 'untrusted-certificate',
  CERT_REVOKED: 'untrusted-certificate',
  CERT_REJECTED: 'untrusted-certificate',
  CERT_SIGNATURE_FAILURE: 'untrusted-certificate',
  INVALID_CA: 'untrusted-certificate',
  INVALID_PURPOSE: 'untrusted-certificate',
  PATH_LENGTH_EXCEEDED: 'untrusted-certificate',
  ERR_TLS_CERT_ALTNAME_INVALID: 'misnamed-certificate',
  HOSTNAME_MISMATCH: 'misnamed-certificate',
};

const maxDetailLength = 300;

/** Classifies a network or TLS error. An unknown error counts as one that may pass. */
export function classifyError(error: Error): Answer {
  const codes = [...codesOf(error)];
  // Some messages quote the receiver, such as all the names in its certificate.
  const detail = (error.message || codes.join(', ')).slice(0, maxDetailLength);
  // A host with several addresses fails with several errors. One retryable error among them is enough.
  for (const code of codes) {
    const reason = retryReasons[code];
    if (reason) return { kind: 'retryable', reason, detail };
  }
  for (const code of codes) {
    const reason = permanentReasons[code];
    if (reason) return { kind: 'permanent', reason, detail };
  }
  return { kind: 'retryable', reason: 'connection-failed', detail };
}

/** Whether the connection ended, or had ended before, without a more specific error. */
export function isConnectionReset(error: Error): boolean {
  return [...codesOf(error)].some((code) => retryReasons[code] === 'connection-reset');
}

function* codesOf(error: unknown, depth = 0): Generator<string> {
  if (!(error instanceof Error) || depth > 5) return;
  const { code, cause, errors } = error as Error & { code?: unknown; errors?: unknown };
  if (Array.isArray(errors)) for (const inner of errors) yield* codesOf(inner, depth + 1);
  yield* codesOf(cause, depth + 1);
  if (typeof code === 'string') yield code;
}

/** Every form of an HTTP date begins with the day of the week. `Date.parse` also accepts texts that are no HTTP date. */
const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /;

/** Seconds or an HTTP date (RFC 9110, section 10.2.3), as milliseconds from now. Undefined for any other text. */
function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  if (!httpDate.test(text)) return undefined;
  // The asctime form has no zone. All forms are in UTC.
  const date = Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
