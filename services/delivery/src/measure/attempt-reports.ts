/** Counts attempts, and publishes their records. */
import type { Publisher } from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import type { AttemptRecord, Delivery, TopicNames } from '@tailrace/topics';
import type { Span } from '@tailrace/tracing';
import type { Breakers } from '../isolation/breakers.ts';
import { attemptRecord, type AttemptOutcome } from './attempt-record.ts';
import { endAttemptSpan } from './attempt-span.ts';
import type { UrlResult } from '../delivery.ts';

export interface AttemptReportsDependencies {
  readonly names: Pick<TopicNames, 'attempts'>;
  readonly breakers: Pick<Breakers, 'stateOf'>;
  /** For records of attempts. No delivery waits for them, and a commit only for a moment. */
  readonly attemptPublisher: Pick<Publisher, 'publish'>;
  readonly metrics: {
    attempted(attempt: AttemptRecord, ageMs: number, traceparent: string | undefined): void;
  };
  readonly log: Pick<Log, 'debug'>;
  readonly now: () => number;
}

/** An attempt that was made. */
export interface Attempt {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** One for each URL that was open. */
  readonly results: readonly UrlResult[];
  /** Undefined where tracing is off. */
  readonly span?: Span | undefined;
}

export class AttemptReports {
  readonly #deps: AttemptReportsDependencies;

  constructor(dependencies: AttemptReportsDependencies) {
    this.#deps = dependencies;
  }

  /**
   * Counts an attempt, publishes its record, and ends its span. The promise settles when the record is written or dropped.
   *
   * @param nextDueAt when it is retried, in milliseconds since the epoch
   */
  report(
    delivery: Delivery,
    outcome: AttemptOutcome,
    { startedAt, results, span }: Attempt,
    nextDueAt?: number,
  ): Promise<void> {
    const { deliveryId, acceptedAt = startedAt } = delivery;
    const record = attemptRecord(delivery, outcome, startedAt, results, {
      ...(nextDueAt !== undefined && { nextDueAt }),
      // A delivered attempt has closed them.
      ...(outcome.kind !== 'delivered' && this.#openSince(delivery, results)),
    });
    const traceparent = span ? span.traceparent : delivery.traceparent;
    this.#deps.metrics.attempted(record, this.#deps.now() - acceptedAt, traceparent);
    if (span) endAttemptSpan(span, record);
    const published = this.#deps.attemptPublisher.publish({
      topic: this.#deps.names.attempts,
      key: deliveryId,
      value: JSON.stringify(record),
    });
    // The delivery does not depend on this record.
    return published.catch((error: unknown) => {
      this.#deps.log.debug({ err: error, deliveryId }, 'attempt record not published');
    });
  }

  #openSince({ destinationId }: Delivery, results: readonly UrlResult[]): { breakerOpenSince?: number } {
    const { breakers, now } = this.#deps;
    const since = results
      .map(({ target }) => breakers.stateOf(destinationId, target.fingerprint))
      .flatMap(({ state, since }) => (state === 'closed' ? [] : [since]));
    return since.length === 0 ? {} : { breakerOpenSince: now() - performance.now() + Math.min(...since) };
  }
}
