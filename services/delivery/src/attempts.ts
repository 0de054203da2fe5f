/** Attempts: the requests of one, and what is told of it. */
import type { Destination } from '@tailrace/config';
import type { Publisher } from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import type { AttemptRecord, Delivery, TopicNames } from '@tailrace/topics';
import { requestHeaders, type Sender, type Target } from '@tailrace/webhook';
import type { Permission } from './lanes/breaker.ts';
import type { Lanes } from './lanes/lanes.ts';
import { attemptRecord, showsTrouble, type AttemptOutcome, type UrlResult } from './results.ts';

export interface AttemptsDependencies {
  readonly names: Pick<TopicNames, 'attempts'>;
  readonly sender: Sender;
  readonly lanes: Pick<Lanes, 'report'>;
  /** For the record of attempts, which nobody waits for. */
  readonly attemptPublisher: Pick<Publisher, 'publish'>;
  readonly observer: { attempted(attempt: AttemptRecord, ageMs: number): void };
  readonly log: Pick<Log, 'debug'>;
  readonly now: () => number;
}

export class Attempts {
  readonly #deps: AttemptsDependencies;

  constructor(dependencies: AttemptsDependencies) {
    this.#deps = dependencies;
  }

  /** One request to a URL, or none where its breaker does not permit it. */
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
    this.#deps.lanes.report(destinationId, target.fingerprint, !showsTrouble(answer));
    return { target, answer, latencyMs: Math.round((endedAt - startedAt) * 10) / 10 };
  }

  /** `nextDueAt` in milliseconds since the epoch, where it is tried again. */
  report(
    delivery: Delivery,
    outcome: AttemptOutcome,
    { startedAt, results }: { readonly startedAt: number; readonly results: readonly UrlResult[] },
    nextDueAt?: number,
  ): void {
    const { deliveryId, acceptedAt = startedAt } = delivery;
    const record = attemptRecord(delivery, outcome, startedAt, results, nextDueAt);
    this.#deps.observer.attempted(record, this.#deps.now() - acceptedAt);
    const published = this.#deps.attemptPublisher.publish({
      topic: this.#deps.names.attempts,
      key: deliveryId,
      value: JSON.stringify(record),
    });
    // It is only looked at: the delivery itself does not depend on it.
    published.catch((error: unknown) => {
      this.#deps.log.debug({ err: error, deliveryId }, 'the record of an attempt was not kept');
    });
  }
}
