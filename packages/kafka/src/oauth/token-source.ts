/**
 * The current token. It is fetched on first use and replaced in the background before it expires, so that a token server that is
 * down or hangs does not affect connections as long as the last token is valid.
 */
import { TailraceError } from '@tailrace/errors';
import type { Token } from '@tailrace/oauth';
import type { KafkaLog } from '../log.ts';

export interface TokenSource {
  /**
   * Waits at most for one request. Callers that wait at the same time share it.
   *
   * @throws TailraceError `kafka-token-unavailable`
   */
  current(): Promise<string>;
  /** A broker has refused the token: the next call fetches another, unless this one is new. */
  refused(value: string): void;
  close(): void;
}

/** A token is replaced when this share of its lifetime is left. */
const replaceAtShare = 0.25;
/** A shorter remaining time does not suffice to authenticate: a broker accepts it once a second. */
const leastLeftMs = 2_000;
/** A new token would be refused too. */
const isNewMs = 10_000;
const firstRetryMs = 500;
const maxRetryMs = 30_000;
/** The limit of `setTimeout`. */
const maxTimerMs = 2 ** 31 - 1;

export function createTokenSource(
  request: () => Promise<Token>,
  log: Pick<KafkaLog, 'warn' | 'info'>,
): TokenSource {
  let token: { readonly value: string; readonly fetchedAt: number; readonly expiresAt: number } | undefined;
  let requesting: Promise<string> | undefined;
  let failure:
    | { readonly error: TailraceError; readonly retryAt: number; readonly count: number }
    | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const renewIn = (delayMs: number): void => {
    clearTimeout(timer);
    if (closed) return;
    timer = setTimeout(() => void renew().catch(() => undefined), Math.min(delayMs, maxTimerMs)).unref();
  };

  const renew = (): Promise<string> => {
    requesting ??= attempt().finally(() => {
      requesting = undefined;
    });
    return requesting;
  };

  const attempt = async (): Promise<string> => {
    const startedAt = performance.now();
    try {
      const { value, lifetimeMs } = await request();
      // From the start of the request: the server counts from some moment during it.
      token = { value, fetchedAt: startedAt, expiresAt: startedAt + lifetimeMs };
      if (failure) log.info({}, 'token server recovered');
      failure = undefined;
      renewIn(Math.max(firstRetryMs, lifetimeMs * (1 - replaceAtShare)));
      return value;
    } catch (error) {
      if (!(error instanceof TailraceError)) throw error;
      const count = (failure?.count ?? 0) + 1;
      const delayMs = Math.min(firstRetryMs * 2 ** (count - 1), maxRetryMs);
      if (!failure) log.warn({ err: error }, 'fetching a token failed, retrying');
      failure = { error, count, retryAt: performance.now() + delayMs };
      // Without a valid token, the next connection retries.
      if (isValid()) renewIn(delayMs);
      throw error;
    }
  };

  const isValid = (): boolean => token !== undefined && token.expiresAt - performance.now() > leastLeftMs;

  return {
    async current() {
      if (token && isValid()) return token.value;
      // So that many connections do not each wait for a server that hangs.
      if (!requesting && failure && performance.now() < failure.retryAt) throw failure.error;
      return renew();
    },
    refused(value) {
      if (token?.value === value && performance.now() - token.fetchedAt > isNewMs) token = undefined;
    },
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
