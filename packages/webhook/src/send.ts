/**
 * The only outbound HTTP client: one request to one URL, with one timeout for the whole exchange, and an `Answer` for
 * every result. Redirects are not followed. The response body is read only so that the connection can be used
 * again; its beginning may be kept on the way. Only addresses that the policy allows are dialled.
 *
 * This uses undici's dispatcher API. The promise-based API costs a third more CPU for each request.
 */
import type { TlsSettings } from '@tailrace/config';
import type { EgressProxy } from '@tailrace/service';
import type { Dispatcher } from 'undici';
import type { AddressPolicy } from './address.ts';
import { classifyError, classifyStatus, isConnectionReset, type Answer } from './classify.ts';
import { createNameLookup } from './dns/lookup.ts';
import { KeptExchange, type Keeping } from './kept-exchange.ts';
import type { CarriedExchange, Carrier } from './send-connection.ts';
import { createPools } from './send-pools.ts';
import type { ConnectionGroup } from './send-group.ts';
import type { NameLookup } from './dns/resolve.ts';

export interface SendRequest {
  /** Connections are not shared between destinations. */
  readonly destinationId: string;
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  /** Default POST. */
  readonly method?: 'POST' | 'PUT' | 'PATCH';
  /** Names and values alternate. */
  readonly headers: readonly string[];
  readonly body: Buffer;
  /** The destination's TLS settings, if any. */
  readonly tls?: TlsSettings | undefined;
  /** `none` sends without the egress proxy. */
  readonly proxy?: 'none' | undefined;
  /** Where it is shorter than that of the sender. */
  readonly timeoutMs?: number | undefined;
  /** The statuses that are retried; by default 408, 429 and 5xx. */
  readonly retryOn?: ReadonlySet<number> | undefined;
  /** What the answer has of the exchange; nothing by default. */
  readonly keep?: Keeping | undefined;
}

export interface Sender {
  send(request: SendRequest): Promise<Answer>;
  close(): Promise<void>;
}

export interface SenderOptions {
  /** For the whole exchange: connect, TLS, request, response headers. */
  readonly timeoutMs: number;
  readonly policy: AddressPolicy;
  /** An older connection is not used again, so that a changed address of a name is dialled eventually. */
  readonly maxConnectionAgeMs?: number;
  /** PEM of certificate authorities to trust beside those that Node trusts. */
  readonly authorities?: readonly string[];
  readonly lookup?: NameLookup;
  /** The egress proxy of the operator. */
  readonly proxy?: EgressProxy | undefined;
  readonly now?: () => number;
}

/** Beyond this, closing the connection is cheaper than reading the response. */
const maxResponseBytes = 64 * 1024;
/** Informational (1xx) responses before the final one. */
const maxInformational = 16;

export function createSender(options: SenderOptions): Sender {
  const { timeoutMs, now = Date.now, proxy, ...others } = options;
  const ofPools = {
    timeoutMs,
    maxConnectionAgeMs: 60_000,
    unusedGroupMs: 300_000,
    authorities: [],
    lookup: createNameLookup(),
    ...others,
  };
  const direct = createPools(ofPools);
  const usual = proxy ? createPools({ ...ofPools, proxy }) : direct;
  return {
    send: (sent) =>
      new Promise((answer) => {
        const { destinationId, origin, path, method = 'POST', headers, body, tls, retryOn, keep } = sent;
        const request = { origin, path, method, headers: headers as string[], body };
        let group: ConnectionGroup;
        const sendAgain = (): void => group.dispatchAlone(destinationId, request, exchange);
        const limitMs = Math.min(sent.timeoutMs ?? timeoutMs, timeoutMs);
        const exchange = new Exchange({ timeoutMs: limitMs, now, answer, sendAgain, retryOn, keep });
        try {
          group = (sent.proxy === 'none' ? direct : usual).groupFor(tls);
        } catch (error) {
          exchange.onResponseError(null, error as Error);
          return;
        }
        group.dispatch(destinationId, request, exchange);
      }),
    async close() {
      await Promise.all([direct.close(), usual.close()]);
    },
  };
}

interface ExchangeOptions {
  readonly timeoutMs: number;
  readonly now: () => number;
  readonly answer: (answer: Answer) => void;
  /** Sends the request again, on a new connection. */
  readonly sendAgain: () => void;
  readonly retryOn: ReadonlySet<number> | undefined;
  readonly keep: Keeping | undefined;
}

/**
 * One request and its response. The answer is reported once, when the status is known. Later events only release
 * the connection.
 */
class Exchange implements CarriedExchange {
  readonly #options: ExchangeOptions;
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #carrier: Carrier | undefined;
  /** Bytes that the connection had received before this request. Undefined on a new connection. */
  #bytesBefore: number | undefined;
  #isSecondTry = false;
  #expired = false;
  #informational = 0;
  #bodyBytes = 0;
  #isAnswered = false;
  #kept: KeptExchange | undefined;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.#timer = setTimeout(() => this.#expire(), options.timeoutMs);
  }

  assigned(carrier: Carrier): void {
    this.#carrier = carrier;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#bytesBefore = this.#carrier?.served ? this.#carrier.receivedBytes : undefined;
    if (this.#expired)
      controller.abort(new Error('the timeout expired before the connection was established'));
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) {
      this.#informational += 1;
      if (this.#informational > maxInformational)
        controller.abort(new Error('too many informational responses'));
      return;
    }
    this.#carrier?.answered();
    const retryAfter = headers['retry-after'];
    const { now, retryOn } = this.#options;
    const text = Array.isArray(retryAfter) ? retryAfter[0] : retryAfter;
    this.#answer(classifyStatus(status, text, now(), retryOn), headers);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bodyBytes += chunk.length;
    this.#kept?.add(chunk);
    if (this.#bodyBytes > maxResponseBytes) controller.abort(new Error('the response body is too long'));
  }

  onResponseEnd(): void {
    clearTimeout(this.#timer);
    this.#carrier?.ended();
    this.#kept?.end(true);
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    const wasStale = this.#wasStale(error);
    this.#carrier?.failed();
    if (wasStale) {
      this.#isSecondTry = true;
      this.#controller = undefined;
      this.#options.sendAgain();
      return;
    }
    clearTimeout(this.#timer);
    this.#answer(classifyError(error));
    this.#kept?.end(false);
  }

  /** Only the first answer counts. */
  #answer(answer: Answer, headers?: KeptExchange['headers']): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    const { keep, answer: report } = this.#options;
    if (!keep || (answer.kind === 'success' && keep.which !== 'all')) {
      report(answer);
      return;
    }
    this.#kept = new KeptExchange(this.#carrier?.dialled ?? {}, headers, keep);
    report({ ...answer, exchange: this.#kept });
  }

  /**
   * Whether the receiver seems to have closed a kept-alive connection while the request was in transit. No client
   * can avoid this (RFC 9112, section 9.3.1). The request was probably not processed, but this is not certain. The
   * retry schedule would send it again in any case, so it is sent again immediately.
   */
  #wasStale(error: Error): boolean {
    if (this.#isSecondTry || this.#expired || this.#bytesBefore === undefined) return false;
    return this.#carrier?.receivedBytes === this.#bytesBefore && isConnectionReset(error);
  }

  #expire(): void {
    this.#expired = true;
    const waitsFor = this.#carrier?.waitsFor;
    // Without a tunnel, the receiver may be as silent as the proxy.
    const reason = waitsFor === 'proxy' ? 'proxy-unreachable' : 'timeout';
    const from = waitsFor === undefined ? '' : ' from the proxy';
    this.#answer({
      kind: 'retryable',
      reason,
      detail: `no answer${from} within ${this.#options.timeoutMs} ms`,
    });
    this.#controller?.abort(new Error('the timeout expired'));
  }
}
