/** Sends the requests of an attempt, and publishes its record. */
import type { Destination } from '@tailrace/config';
import type { Publisher } from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import type { AttemptRecord, Delivery, TopicNames } from '@tailrace/topics';
import { requestHeaders, type Sender, type Target } from '@tailrace/webhook';
import type { Permission } from './isolation/breaker.ts';
import type { Breakers } from './isolation/breakers.ts';
import { showsTrouble } from './isolation/feedback.ts';
import { attemptRecord, type AttemptOutcome } from './measure/attempt-record.ts';
import type { UrlResult } from './outcome.ts';

export interface AttemptsDependencies {
  readonly names: Pick<TopicNames, 'attempts'>;
  readonly sender: Sender;
  readonly breakers: Pick<Breakers, 'report'>;
  /** For records of attempts, which no delivery waits for. */
  readonly attemptPublisher: Pick<Publisher, 'publish'>;
  readonly metrics: { attempted(attempt: AttemptRecord, ageMs: number): void };
  readonly log: Pick<Log, 'debug'>;
  readonly now: () => number;
}

/** An attempt that was made. */
export interface Attempt {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** One for each URL that was open. */
  readonly results: readonly UrlResult[];
}

export class Attempts {
  readonly #deps: AttemptsDependencies;

  constructor(dependencies: AttemptsDependencies) {
    this.#deps = dependencies;
  }

  /** Sends one request to a URL, or none where its circuit breaker does not permit it. */
  async send(
    destination: Destination,
    target: Target,
    permission: Permission,
    { deliveryId, destinationId, body }: Delivery,
  ): Promise<UrlResult> {
    if (permission === 'park') {
      return { target, answer: { kind: 'retryable', reason: 'circuit-open' }, latencyMs: 0 };
    }
    const startedAt = performance.now();
    const { origin, path, tls } = target;
    const headers = requestHeaders(destination, target, body, { deliveryId, startedAt: this.#deps.now() });
    const answer = await this.#deps.sender.send({ destinationId, origin, path, headers, body, tls });
    const endedAt = performance.now();
    this.#deps.breakers.report(destinationId, target.fingerprint, !showsTrouble(answer));
    return { target, answer, latencyMs: Math.round((endedAt - startedAt) * 10) / 10 };
  }

  /**
   * Counts an attempt and publishes its record.
   *
   * @param nextDueAt when it is retried, in milliseconds since the epoch
   */
  report(
    delivery: Delivery,
    outcome: AttemptOutcome,
    { startedAt, results }: Attempt,
    nextDueAt?: number,
  ): void {
    const { deliveryId, acceptedAt = startedAt } = delivery;
    const record = attemptRecord(delivery, outcome, startedAt, results, nextDueAt);
    this.#deps.metrics.attempted(record, this.#deps.now() - acceptedAt);
    const published = this.#deps.attemptPublisher.publish({
      topic: this.#deps.names.attempts,
      key: deliveryId,
      value: JSON.stringify(record),
    });
    // The delivery does not depend on this record.
    published.catch((error: unknown) => {
      this.#deps.log.debug({ err: error, deliveryId }, 'attempt record not published');
    });
  }
}
