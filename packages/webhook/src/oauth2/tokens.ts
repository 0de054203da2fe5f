/**
 * The tokens of destinations with `oauth2`: one for all requests of this process, fetched over the connections of webhooks, so with
 * their address policy, certificates and name look-ups.
 */
import { readToken, tokenRequest } from '@tailrace/oauth';
import type { Sender } from '../send.ts';
import type { TokenServer } from '../target.ts';
import {
  isFetching,
  nextState,
  noToken,
  type TokenEvent,
  type TokenFailure,
  type TokenState,
} from './token-state.ts';

export type TokenResult = { readonly token: string } | TokenFailure;

const timeoutMs = 5_000;
const mostAnswerBytes = 16 * 1024;

export class Tokens {
  /** Requests to token servers, by their result. */
  readonly counts = { fetched: 0, failed: 0 };
  readonly #sender: Pick<Sender, 'send'>;
  /** A changed destination has another token server, so the entries of deleted and changed ones go with these. */
  readonly #sources = new WeakMap<TokenServer, TokenSource>();

  constructor(sender: Pick<Sender, 'send'>) {
    this.#sender = sender;
  }

  of(server: TokenServer): TokenSource {
    let source = this.#sources.get(server);
    if (!source) this.#sources.set(server, (source = new TokenSource(() => this.#fetch(server))));
    return source;
  }

  async #fetch(server: TokenServer): Promise<TokenEvent> {
    const event = await this.#request(server);
    this.counts[event.kind] += 1;
    return event;
  }

  async #request(server: TokenServer): Promise<Extract<TokenEvent, { kind: 'fetched' | 'failed' }>> {
    const failed = (why: string, reason: TokenFailure['reason'] = 'token-unavailable') =>
      ({
        kind: 'failed',
        failure: { reason, detail: `the token server ${server.shownUrl} ${why}` },
      }) as const;
    const { headers, body } = tokenRequest(server.client);
    const { status, exchange, ...answer } = await this.#sender.send({
      ...server,
      headers: ['User-Agent', 'Tailrace/1.0', ...Object.entries(headers).flat()],
      body: Buffer.from(body),
      timeoutMs,
      keep: { bodyBytes: mostAnswerBytes, which: 'all' },
    });
    if (status === undefined || !exchange) {
      const { reason = '', detail = '' } = answer.kind === 'success' ? {} : answer;
      // A failure of the proxy is not one of the token server.
      return failed(
        `cannot be used: ${reason}${detail && ` (${detail})`}`,
        reason === 'proxy-unreachable' || reason === 'proxy-unauthorized' ? reason : undefined,
      );
    }
    await exchange.ended;
    const { bytes, isCut } = exchange.body;
    if (isCut && status === 200) {
      return failed(`answers with more than ${mostAnswerBytes} bytes, or not to the end`);
    }
    const token = readToken(status, bytes.toString(), server.client);
    if ('why' in token) return failed(token.why);
    return { kind: 'fetched', token: token.value, lifetimeMs: token.lifetimeMs };
  }
}

/** The token of one destination, and the request for it that is under way. */
export class TokenSource {
  readonly #fetch: () => Promise<TokenEvent>;
  #state = noToken;
  #fetching: Promise<void> | undefined;

  /** @param fetch must not reject */
  constructor(fetch: () => Promise<TokenEvent>) {
    this.#fetch = fetch;
  }

  /** The token, after at most one request to the token server. */
  async get(): Promise<TokenResult> {
    this.#apply({ kind: 'needed' });
    if (this.#state.kind === 'fetching') await this.#fetching;
    return resultOf(this.#state);
  }

  /** Another token for one that a receiver has refused; the same where it was replaced a moment ago. */
  replace(token: string): Promise<TokenResult> {
    this.#apply({ kind: 'rejected', token });
    return this.get();
  }

  #apply(event: TokenEvent): void {
    const before = this.#state;
    this.#state = nextState(before, event, performance.now());
    if (!isFetching(this.#state) || isFetching(before)) return;
    this.#fetching = this.#fetch().then((result) => this.#apply(result));
  }
}

function resultOf(state: TokenState): TokenResult {
  if (state.kind === 'valid' || state.kind === 'renewing') return { token: state.token };
  if (state.kind === 'refused') return state.failure;
  return { reason: 'token-unavailable', detail: 'the token server has not answered yet' };
}
