/**
 * The only outbound HTTP: one POST to one URL, with five seconds for the whole exchange, and an answer for
 * whatever happens. Redirects are not followed, the response body is read only so that the connection can be
 * used again, and no address is dialled that the policy does not allow.
 *
 * It speaks to the client's dispatcher directly: the promise-based API above it costs a third more a request.
 */
import type { TlsSettings } from '@tailrace/config';
import type { Dispatcher } from 'undici';
import type { AddressPolicy } from './address.ts';
import { classifyError, classifyStatus, isConnectionReset, type Answer } from './classify.ts';
import { createNameLookup } from './dns/lookup.ts';
import type { CarriedExchange, Carrier } from './send-connection.ts';
import { createPools } from './send-pools.ts';
import type { Route } from './send-route.ts';
import type { NameLookup } from './dns/resolve.ts';

export interface SendRequest {
  /** Whose connections carry it: destinations share none. */
  readonly destinationId: string;
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: Buffer;
  /** Of the destination, where it has its own. */
  readonly tls?: TlsSettings | undefined;
  /** Told what comes back, where somebody wants to see it. */
  readonly watch?: ResponseWatch | undefined;
}

export interface ResponseWatch {
  readonly onHead: (status: number, headers: Readonly<Record<string, string | string[] | undefined>>) => void;
  readonly onData: (chunk: Buffer) => void;
  /** The exchange is over, with or without an answer. */
  readonly onEnd: () => void;
}

export interface Sender {
  send(request: SendRequest): Promise<Answer>;
  close(): Promise<void>;
}

export interface SenderOptions {
  /** For the whole exchange: connect, TLS, request, response headers. */
  readonly timeoutMs: number;
  readonly policy: AddressPolicy;
  /** A connection that is older is used no more, so that a name's new address is dialled in the end. */
  readonly maxConnectionAgeMs?: number;
  /** PEM of certificate authorities to trust beside those that Node trusts. */
  readonly authorities?: readonly string[];
  readonly lookup?: NameLookup;
  readonly now?: () => number;
}

/** A longer answer is not worth the reading: the connection is closed instead. */
const maxResponseBytes = 64 * 1024;
/** Informational answers before the one that counts. */
const maxInformational = 16;

export function createSender(options: SenderOptions): Sender {
  const { timeoutMs, now = Date.now } = options;
  const pools = createPools({
    maxConnectionAgeMs: 60_000,
    unusedRouteMs: 300_000,
    authorities: [],
    lookup: createNameLookup(),
    ...options,
  });
  return {
    send: ({ destinationId, origin, path, headers, body, tls, watch }) =>
      new Promise((answer) => {
        const request = { origin, path, method: 'POST' as const, headers: headers as string[], body };
        let route: Route;
        try {
          route = pools.routeFor(tls);
        } catch (error) {
          answer(classifyError(error as Error));
          watch?.onEnd();
          return;
        }
        const sendAgain = (): void => {
          route.dispatchAlone(destinationId, request, exchange);
        };
        const exchange = new Exchange({ timeoutMs, now, answer, sendAgain, watch });
        route.dispatch(destinationId, request, exchange);
      }),
    close: () => pools.close(),
  };
}

interface ExchangeOptions {
  readonly timeoutMs: number;
  readonly now: () => number;
  readonly answer: (answer: Answer) => void;
  /** Sends the request a second time, on a new connection. */
  readonly sendAgain: () => void;
  readonly watch: ResponseWatch | undefined;
}

/** One request and its answer. The answer is given once; what comes later only ends the connection properly. */
class Exchange implements CarriedExchange {
  readonly #options: ExchangeOptions;
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #carrier: Carrier | undefined;
  /** What the connection had received before, where it had served before. */
  #bytesBefore: number | undefined;
  #isSecondTry = false;
  #expired = false;
  #informational = 0;
  #bodyBytes = 0;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.#timer = setTimeout(() => {
      this.#expire();
    }, options.timeoutMs);
  }

  carriedBy(carrier: Carrier): void {
    this.#carrier = carrier;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#bytesBefore = this.#carrier?.served ? this.#carrier.receivedBytes : undefined;
    if (this.#expired) controller.abort(new Error('the time was over before there was a connection'));
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) {
      this.#informational += 1;
      if (this.#informational > maxInformational)
        controller.abort(new Error('too many informational answers'));
      return;
    }
    this.#carrier?.answered();
    this.#options.watch?.onHead(status, headers);
    const retryAfter = headers['retry-after'];
    this.#options.answer(
      classifyStatus(status, Array.isArray(retryAfter) ? retryAfter[0] : retryAfter, this.#options.now()),
    );
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bodyBytes += chunk.length;
    this.#options.watch?.onData(chunk);
    if (this.#bodyBytes > maxResponseBytes) controller.abort(new Error('the response body is too long'));
  }

  onResponseEnd(): void {
    clearTimeout(this.#timer);
    this.#carrier?.ended();
    this.#options.watch?.onEnd();
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
    this.#options.answer(classifyError(error));
    this.#options.watch?.onEnd();
  }

  /**
   * Whether the receiver seems to have closed a kept-alive connection while the request was on its way to it, which
   * no client can avoid (RFC 9112, section 9.3.1). That it was not processed is likely and not certain; but it would
   * be sent again in any case, after the first delay of the schedule, so nothing is lost by not waiting for that.
   */
  #wasStale(error: Error): boolean {
    if (this.#isSecondTry || this.#expired || this.#bytesBefore === undefined) return false;
    return this.#carrier?.receivedBytes === this.#bytesBefore && isConnectionReset(error);
  }

  #expire(): void {
    this.#expired = true;
    const detail = `no answer within ${this.#options.timeoutMs} ms`;
    this.#options.answer({ kind: 'retryable', reason: 'timeout', detail });
    this.#controller?.abort(new Error('the time is over'));
  }
}
