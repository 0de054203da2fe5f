/** Sends batches with fetch. */
import { reasonOf } from '../core/errors.ts';
import { authorization, batchJson, maxAnswerLength, outcomeOf } from '../core/http-exchange.ts';
import { maxBatchBytes, maxBatchCalls, type HttpSettings, type Transport } from '../core/transport.ts';
import { webPlatform } from './platform.ts';

/** The part of fetch that is used. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>;

/** AbortSignal, where the user's compiler has the type. */
type Signal = typeof globalThis extends { AbortSignal: { prototype: infer Known } } ? Known : object;

export interface FetchInit {
  method: string;
  headers: Record<string, string>;
  body: string;
  redirect: 'manual';
  signal: Signal;
  keepalive?: boolean;
}

export interface FetchResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: {
    getReader(): {
      read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
      cancel(): Promise<void>;
    };
  } | null;
}

interface FetchSettings extends HttpSettings {
  /** The URL of `/v1/batch`. */
  readonly url: string;
  readonly fetch: Fetch;
}

/** Browsers send at most 64 KB after their page was left, of all requests in flight together. */
const maxKeepaliveBytes = 32_000;

export function fetchTransport({ writeKey, url, timeoutMs, context, fetch }: FetchSettings): Transport {
  const isPage = webPlatform.page !== undefined;
  // With these, browsers ask no server for permission before a request, which a page that ends would not wait for.
  const headers: Record<string, string> = isPage
    ? { 'content-type': 'text/plain' }
    : { 'content-type': 'application/json', authorization: authorization(writeKey) };
  const head = isPage ? `"writeKey":${JSON.stringify(writeKey)},` : '';
  /** A failure may be that of the limit. */
  let hasFailed = false;

  const keepsAlive = (body: string): boolean =>
    isPage && !hasFailed && webPlatform.byteLength(body) <= maxKeepaliveBytes;

  return {
    limits: {
      bytes: maxBatchBytes - webPlatform.byteLength(batchJson([], context, head)),
      calls: maxBatchCalls,
    },
    timeoutMs,
    async send(calls, signal) {
      const controller = new AbortController();
      let isSlow = false as boolean;
      let stop = (): void => undefined;
      const stopped = new Promise<never>((_, reject) => {
        stop = () => reject(new Error('the client was closed'));
      });
      const abort = (): void => {
        controller.abort();
        stop();
      };
      const timer = setTimeout(() => {
        isSlow = true;
        abort();
      }, timeoutMs);
      signal.addEventListener('abort', abort);
      try {
        const body = batchJson(calls, context, head);
        const exchange = fetch(url, {
          method: 'POST',
          headers,
          body,
          redirect: 'manual',
          signal: controller.signal,
          ...(keepsAlive(body) && { keepalive: true }),
        }).then(async (response) => {
          hasFailed = false;
          const retryAfter = response.headers.get('retry-after') ?? undefined;
          return { status: response.status, retryAfter, ...(await read(response)) };
        });
        // A given fetch may ignore the signal.
        return outcomeOf(await Promise.race([exchange, stopped]), calls.length);
      } catch (error) {
        hasFailed = true;
        const reason = isSlow ? `no answer within ${timeoutMs} ms` : reasonOf(error);
        return { kind: 'failed', reason, slow: isSlow };
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
      }
    },
    close: () => undefined,
  };
}

/** Rejects where the body is cut off: an error status is then retried too, which is harmless. */
async function read({ body }: FetchResponse): Promise<{ body: string; isTooLong: boolean }> {
  const decoder = new TextDecoder();
  const reader = body?.getReader();
  let text = '';
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done) return { body: text, isTooLong: false };
    text += decoder.decode(value, { stream: true });
    if (text.length > maxAnswerLength) {
      await reader?.cancel();
      return { body: '', isTooLong: true };
    }
  }
}
