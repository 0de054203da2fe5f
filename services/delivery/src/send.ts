/**
 * The only outbound HTTP: one POST to one URL, with five seconds for the whole exchange, and an answer for
 * whatever happens. Redirects are not followed, the response body is read only so that the connection can be
 * used again, and no address is dialled that the policy does not allow.
 *
 * It speaks to the client's dispatcher directly: the promise-based API above it costs a third more a request.
 */
import { lookup as resolve, type LookupAddress, type LookupOptions } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { createSecureContext, getCACertificates } from 'node:tls';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import type { AddressPolicy } from './address.ts';
import { judgeStatus } from './decide.ts';
import type { Answer, PermanentReason, RetryReason } from './outcome.ts';

export interface SendRequest {
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

export interface Sender {
  send(request: SendRequest): Promise<Answer>;
  close(): Promise<void>;
}

export interface SenderOptions {
  /** For the whole exchange: connect, TLS, request, response headers. */
  readonly timeoutMs: number;
  readonly policy: AddressPolicy;
  readonly connectionsPerOrigin?: number;
  /** PEM of certificate authorities to trust beside those that Node trusts. */
  readonly authorities?: readonly string[];
  readonly now?: () => number;
}

/** A longer answer is not worth the reading: the connection is closed instead. */
const maxResponseBytes = 64 * 1024;
const maxResponseHeaderBytes = 16 * 1024;

class AddressNotAllowed extends Error {
  readonly code = 'ADDRESS_NOT_ALLOWED';
}

export function createSender(options: SenderOptions): Sender {
  const { timeoutMs, connectionsPerOrigin = 128, now = Date.now } = options;
  const agent = new Agent({
    connect: guardedConnector(options),
    connections: connectionsPerOrigin,
    pipelining: 1,
    allowH2: false,
    maxHeaderSize: maxResponseHeaderBytes,
    // One clock rules the exchange, our own.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    send: ({ origin, path, headers, body }) =>
      new Promise((resolveAnswer) => {
        const exchange = new Exchange(timeoutMs, now, resolveAnswer);
        agent.dispatch({ origin, path, method: 'POST', headers: headers as string[], body }, exchange);
      }),
    close: () => agent.destroy(),
  };
}

/** One request and its answer. The answer is given once; what comes later only ends the connection properly. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #answer: (answer: Answer) => void;
  readonly #now: () => number;
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #expired = false;
  #receivedBytes = 0;

  constructor(timeoutMs: number, now: () => number, answer: (answer: Answer) => void) {
    this.#answer = answer;
    this.#now = now;
    this.#timer = setTimeout(() => {
      this.#expire(timeoutMs);
    }, timeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#expired) controller.abort(new Error('the time was over before a connection was free'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    const retryAfter = headers['retry-after'];
    this.#answer(judgeStatus(status, Array.isArray(retryAfter) ? retryAfter[0] : retryAfter, this.#now()));
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#receivedBytes += chunk.length;
    if (this.#receivedBytes > maxResponseBytes) controller.abort(new Error('the response body is too long'));
  }

  onResponseEnd(): void {
    clearTimeout(this.#timer);
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    clearTimeout(this.#timer);
    this.#answer(judgeFailure(error));
  }

  #expire(timeoutMs: number): void {
    this.#expired = true;
    this.#answer({ kind: 'retryable', reason: 'timeout', detail: `no answer within ${timeoutMs} ms` });
    this.#controller?.abort(new Error('the time is over'));
  }
}

const retryReasons: Readonly<Record<string, RetryReason>> = {
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
};

/** OpenSSL's verdicts on a certificate, as Node names them. */
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

/** What a failed exchange means. A failure nobody has named is taken for one that may pass. */
export function judgeFailure(error: Error): Answer {
  const codes = [...codesOf(error)];
  const detail = error.message;
  // A host with several addresses fails with several errors; one that may pass outweighs one that will not.
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

function* codesOf(error: unknown, depth = 0): Generator<string> {
  if (!(error instanceof Error) || depth > 5) return;
  const { code, cause, errors } = error as Error & { code?: unknown; errors?: unknown };
  if (Array.isArray(errors)) for (const inner of errors) yield* codesOf(inner, depth + 1);
  yield* codesOf(cause, depth + 1);
  if (typeof code === 'string') yield code;
}

/** Dials only what the policy allows: an address in the URL is checked here, a name in its look-up. */
function guardedConnector({ policy, timeoutMs, authorities = [] }: SenderOptions): buildConnector.connector {
  const connect = buildConnector({
    timeout: timeoutMs,
    allowH2: false,
    lookup: guardedLookup(policy),
    // Made once: to parse authorities takes longer than to connect.
    secureContext: createSecureContext({
      minVersion: 'TLSv1.2',
      ...(authorities.length > 0 && { ca: [...getCACertificates('default'), ...authorities] }),
    }),
  });
  return (options, callback) => {
    const address = options.hostname.replace(/^\[|\]$/g, '');
    if (isIP(address) !== 0 && !policy.allows(address)) {
      callback(new AddressNotAllowed(`${address} is not an address that webhooks may reach`), null);
      return;
    }
    connect({ ...options, hostname: address }, callback);
  };
}

function guardedLookup(policy: AddressPolicy): LookupFunction {
  return (hostname: string, options: LookupOptions, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      if (error) {
        callback(error, []);
        return;
      }
      const allowed = addresses.filter(({ address }) => policy.allows(address));
      const [first] = allowed;
      if (!first) {
        callback(new AddressNotAllowed(`${hostname} has no address that webhooks may reach`), []);
      } else if (options.all) {
        callback(null, allowed);
      } else {
        callback(null, first.address, first.family);
      }
    });
  };
}
