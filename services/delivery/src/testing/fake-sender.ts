/** A sender whose answers the test chooses. It sends nothing. */
import type { Answer, Sender, SendRequest } from '@tailrace/webhook';

export const success: Answer = { kind: 'success', status: 200 };
export const serverError: Answer = { kind: 'retryable', reason: 'server-error', status: 503 };
export const timeout: Answer = { kind: 'retryable', reason: 'timeout' };
export const gone: Answer = { kind: 'permanent', reason: 'client-error', status: 410 };

/** The answer of a request that ends with `FakeSender.release` or `FakeSender.answerHeld`. */
export const held = Symbol('held');

export class FakeSender implements Sender {
  readonly requests: SendRequest[] = [];
  /** Chooses the answer to each request; success by default. */
  onRequest: (request: SendRequest, nth: number) => Answer | Promise<Answer> | typeof held = () => success;
  /** What requests of destinations with `oauth2` get without being sent; undefined where there is a token. */
  noToken: Answer | undefined;
  readonly tokenRequests = { fetched: 0, failed: 0 };
  #held: ((answer: Answer) => void)[] = [];
  readonly #until: (holds: () => boolean) => Promise<void>;

  /** @param until waits for a condition */
  constructor(until: (holds: () => boolean) => Promise<void>) {
    this.#until = until;
  }

  async send(request: SendRequest): Promise<Answer> {
    this.requests.push(request);
    const answer = this.onRequest(request, this.requests.length);
    return answer === held ? new Promise((resolve) => this.#held.push(resolve)) : answer;
  }

  prepare(): Promise<Answer | undefined> {
    return Promise.resolve(this.noToken);
  }

  /** The bodies of the requests, in the order in which they were sent. */
  get bodies(): string[] {
    return this.requests.map(({ body }) => String(body));
  }

  /** How many requests wait for `release` or `answerHeld`. */
  get holding(): number {
    return this.#held.length;
  }

  /** Resolves when so many requests were sent. */
  sent(count: number): Promise<void> {
    return this.#until(() => this.requests.length >= count);
  }

  /** Answers the oldest request that is held. */
  answerHeld(answer: Answer): void {
    this.#held.shift()?.(answer);
  }

  /** Answers all requests that are held, with success by default. */
  release(answer: Answer = success): void {
    for (const resolve of this.#held.splice(0)) resolve(answer);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
