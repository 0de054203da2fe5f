/**
 * What is kept of an exchange for those who ask why a receiver refused it: where the request was sent, how long that took, and how
 * the answer begins. It decides nothing, and the response is read no further for it.
 */
import { secretMask } from '@tailrace/config';
import type { UrlExchange } from '@tailrace/records';
import { maskSecrets, safeText, secretsOf } from './safe-text.ts';
import { rounded, type Dialled } from './send-connection.ts';
import type { Target } from './target.ts';

export interface Keeping {
  /** Bytes of the response body. */
  readonly bodyBytes: number;
  /** Default: only exchanges that failed. */
  readonly which?: 'all' | 'failed';
  /** The `Authorization` of a token, which the headers of the target do not have. It is masked as these are. */
  readonly authorization?: string | undefined;
}

/** What is stored of a failed attempt. */
export const keptOfFailures: Keeping = { bodyBytes: 1_024 };

/** The headers of a response that are stored: what its body is, who answered, what to do, and the ids of its logs. */
const storedHeaders = [
  'content-type',
  'content-encoding',
  'retry-after',
  'location',
  'allow',
  'www-authenticate',
  'server',
  'x-request-id',
  'request-id',
  'x-correlation-id',
  'x-amzn-requestid',
  'x-amz-cf-id',
  'cf-ray',
];
const maxHeaderLength = 200;

type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

export class KeptExchange {
  readonly dialled: Dialled;
  /** Undefined where there was no response. */
  readonly headers: ResponseHeaders | undefined;
  /** As {@link Keeping} has it. */
  readonly authorization: string | undefined;
  readonly #ended = Promise.withResolvers<undefined>();
  readonly #bodyBytes: number;
  #body: Buffer | undefined;
  #length = 0;
  #isWhole = false;
  #isLonger = false;

  constructor(dialled: Dialled, headers: ResponseHeaders | undefined, keep: Keeping) {
    this.dialled = dialled;
    this.headers = headers;
    this.authorization = keep.authorization;
    this.#bodyBytes = keep.bodyBytes;
    if (!headers) this.end(true);
  }

  /** Resolves when nothing more is kept: the response has ended, its connection has, or enough of it has arrived. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  add(chunk: Buffer): void {
    if (this.#isLonger) return;
    // A buffer of its own: the chunk is a slice of a larger one.
    this.#body ??= Buffer.allocUnsafeSlow(this.#bodyBytes);
    this.#isLonger = chunk.length > this.#bodyBytes - this.#length;
    this.#length += chunk.copy(this.#body, this.#length);
    if (this.#isLonger) this.#ended.resolve(undefined);
  }

  end(isWhole: boolean): void {
    this.#isWhole = isWhole;
    this.#ended.resolve(undefined);
  }

  /** What has arrived of the body; `isCut` where more was to come. */
  get body(): { readonly bytes: Buffer; readonly isCut: boolean } {
    const bytes = this.#body?.subarray(0, this.#length) ?? Buffer.alloc(0);
    return { bytes, isCut: this.#isLonger || !this.#isWhole };
  }
}

export interface ExchangeOptions {
  readonly target: Target;
  /** As they were sent; names and values alternate. */
  readonly requestHeaders: readonly string[];
  /** Those of them that a transform has added. They may be secrets, as those of the target. */
  readonly made?: Readonly<Record<string, string>> | undefined;
  /** Until the headers of the response, or the failure. */
  readonly latencyMs: number;
  /** Default: what is stored. That has some headers of the response, and those of the request only where there was a response. */
  readonly extent?: 'all' | 'stored';
}

/** The exchange as texts that are safe to store and to show, as far as it has arrived. */
export function describeExchange(
  { dialled, headers, authorization, body }: KeptExchange,
  {
    target: { headers: ownHeaders, path },
    requestHeaders,
    made = {},
    latencyMs,
    extent = 'stored',
  }: ExchangeOptions,
): UrlExchange {
  const added = authorization === undefined ? [] : ['Authorization', authorization];
  const configured = [...ownHeaders, ...Object.entries(made).flat(), ...added];
  const secrets = secretsOf({ headers: configured, path });
  const { dnsMs = 0, connectMs = 0, tlsMs = 0 } = dialled;
  return {
    ...dialled,
    ...(headers && { answerMs: rounded(Math.max(0, latencyMs - dnsMs - connectMs - tlsMs)) }),
    ...((headers !== undefined || extent === 'all') && {
      requestHeaders: shownRequest([...requestHeaders, ...added], configured),
    }),
    ...(headers && { responseHeaders: shownResponse(headers, extent, secrets) }),
    ...(headers && shownBody(headers, body, secrets)),
  };
}

function shownRequest(headers: readonly string[], configured: readonly string[]): Record<string, string> {
  const masked = new Set(pairsOf(configured).map(([name]) => name));
  return Object.fromEntries(
    pairsOf(headers).map(([name, value]) => [name, masked.has(name) ? secretMask : value]),
  );
}

/** Of names and values that alternate. */
export function pairsOf(headers: readonly string[]): (readonly [name: string, value: string])[] {
  return headers.flatMap((name, place) =>
    place % 2 === 0 ? [[name, headers[place + 1] ?? ''] as const] : [],
  );
}

function shownResponse(
  headers: ResponseHeaders,
  extent: 'all' | 'stored',
  secrets: readonly string[],
): Record<string, string> {
  const names = extent === 'all' ? Object.keys(headers) : storedHeaders;
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = headers[name];
      if (value === undefined) return [];
      const text = [value].flat().join(', ');
      if (extent === 'all') return [[name, maskSecrets(safeText(text), secrets)] as const];
      // The query of a location may hold secrets of the receiver.
      const stored = name === 'location' ? text.replace(/[?#].*$/s, '') : text;
      const safe = maskSecrets(safeText(stored), secrets);
      return [[name, safe.slice(0, maxHeaderLength).toWellFormed()] as const];
    }),
  );
}

function shownBody(
  headers: ResponseHeaders,
  { bytes, isCut }: KeptExchange['body'],
  secrets: readonly string[],
): Pick<UrlExchange, 'responseBody' | 'omitted'> {
  const encoding = headers['content-encoding'] ?? 'identity';
  // It is not inflated: a KB may become a MB.
  if (bytes.length > 0 && (encoding !== 'identity' || bytes.includes(0))) return { omitted: 'binary' };
  // A stream leaves out the character that is cut at its end.
  const text = new TextDecoder().decode(bytes, { stream: isCut });
  const responseBody = maskSecrets(safeText(text), secrets, isCut);
  return { ...(responseBody !== '' && { responseBody }), ...(isCut && { omitted: 'rest' }) };
}
