/** A sender whose answers the test chooses. It sends nothing. */
import type { Answer, Sender, SendRequest } from '@tailrace/webhook';

export const success: Answer = { kind: 'success', status: 200 };
export const serverError: Answer = { kind: 'retryable', reason: 'server-error', status: 503 };
export const gone: Answer = { kind: 'permanent', reason: 'client-error', status: 410 };

/** The answer of a request that ends with `FakeSender.release` or `FakeSender.answerHeld`. */
export const held = Symbol('held');

export class FakeSender implements Sender {
  readonly requests: SendRequest[] = [];
  /** Chooses the answer to each request; success by default. */
  onRequest: (request: SendRequest, nth: number) => Answer | typeof held = () => success;
  #held: ((answer: Answer) => void)[] = [];
  #waiting: { readonly count: number; readonly resolve: () => void }[] = [];

  send(request: SendRequest): Promise<Answer> {
    this.requests.push(request);
    const answer = this.onRequest(request, this.requests.length);
    const [due, waiting] = [true, false].map((isDue) =>
      this.#waiting.filter(({ count }) => count <= this.requests.length === isDue),
    );
    this.#waiting = waiting ?? [];
    for (const { resolve } of due ?? []) resolve();
    if (answer !== held) return Promise.resolve(answer);
    return new Promise((resolve) => this.#held.push(resolve));
  }

  /** The bodies of the requests, in the order in which they were sent. */
  get bodies(): string[] {
    return this.requests.map(({ body }) => String(body));
  }

  /** Resolves when so many requests were sent. */
  sent(count: number): Promise<void> {
    if (this.requests.length >= count) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ count, resolve }));
  }

  /** Answers the oldest request that is held. */
  answerHeld(answer: Answer): void {
    this.#held.shift()?.(answer);
  }

  /** Answers all requests that are held with success. */
  release(): void {
    for (const answer of this.#held.splice(0)) answer(success);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
