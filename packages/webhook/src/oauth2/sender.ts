/** The sender of webhooks, with the tokens of destinations that have `oauth2`. Other requests pass as they are. */
import type { Answer } from '../classify.ts';
import {
  createSender as createPlainSender,
  type Sender as PlainSender,
  type SenderOptions,
  type SendRequest as PlainRequest,
} from '../send.ts';
import type { TokenServer } from '../target.ts';
import type { TokenFailure } from './token-state.ts';
import { Tokens, type TokenSource } from './tokens.ts';

export interface SendRequest extends PlainRequest {
  /** Where its token comes from, if it needs one. */
  readonly tokenServer?: TokenServer | undefined;
}

export interface Sender {
  send(request: SendRequest): Promise<Answer>;
  /**
   * Waits until there is a token, or none. Returns the answer that requests get then without being sent; undefined where there is a
   * token, so that `send` does not wait.
   */
  prepare(server: TokenServer): Promise<Answer | undefined>;
  /** Requests to token servers so far, by their result. */
  readonly tokenRequests: Readonly<Record<'fetched' | 'failed', number>>;
  close(): Promise<void>;
}

export function createSender(options: SenderOptions): Sender {
  const plain = createPlainSender(options);
  const tokens = new Tokens(plain);
  return {
    send: (request) =>
      request.tokenServer
        ? sendWithToken(plain, request, tokens.of(request.tokenServer))
        : plain.send(request),
    async prepare(server) {
      const result = await tokens.of(server).get();
      return 'token' in result ? undefined : withoutToken(result);
    },
    tokenRequests: tokens.counts,
    close: () => plain.close(),
  };
}

/** A token may end before its time, so a 401 is answered with another one, once. */
async function sendWithToken(
  sender: PlainSender,
  request: PlainRequest,
  source: TokenSource,
): Promise<Answer> {
  const first = await source.get();
  if (!('token' in first)) return withoutToken(first);
  const answer = await sender.send(authorized(request, first.token));
  if (answer.status !== 401) return answer;
  const next = await source.replace(first.token);
  if (!('token' in next)) return { ...withoutToken(next), status: answer.status };
  return next.token === first.token ? answer : sender.send(authorized(request, next.token));
}

function authorized(request: PlainRequest, token: string): PlainRequest {
  const { headers, keep } = request;
  const authorization = `Bearer ${token}`;
  return {
    ...request,
    headers: [...headers, 'Authorization', authorization],
    keep: keep && { ...keep, authorization },
  };
}

function withoutToken(failure: TokenFailure): Answer {
  return { kind: 'retryable', ...failure };
}
