/** Counts, logs and traces what happens to deliveries, and publishes the records of attempts. It decides nothing. */
import type { Publisher, TrackedRecord, Work } from '@tailrace/kafka';
import type { DeadReason } from '@tailrace/metrics';
import type { Log } from '@tailrace/service';
import { exchangesHeader, type Delivery } from '@tailrace/records';
import type { TopicNames } from '@tailrace/topology';
import { readTraceparent, traceFields, type Span, type Tracing } from '@tailrace/tracing';
import type { Target } from '@tailrace/webhook';
import type { HeldBy, Received, UrlResult, Wait } from '../delivery.ts';
import type { Breakers } from '../receivers/breakers.ts';
import type { DeliveryMetrics } from './metrics.ts';
import { attemptRecord, type AttemptOutcome } from './attempt-record.ts';
import { endAttemptSpan, startAttemptSpan, traceDeadLetter } from './attempt-span.ts';
import { answersEnded, type Exchanges } from './exchanges.ts';

export interface ObserverDependencies {
  readonly names: Pick<TopicNames, 'attempts' | 'deliveriesReplay'>;
  readonly breakers: Pick<Breakers, 'stateOf'>;
  /** No delivery waits for these records, and a commit only for a moment. */
  readonly publisher: Pick<Publisher, 'publish'>;
  readonly exchanges: Pick<Exchanges, 'encode'>;
  readonly metrics: DeliveryMetrics;
  readonly log: Pick<Log, 'debug' | 'warn' | 'error'>;
  /** Undefined where tracing is off. */
  readonly tracing?: Tracing | undefined;
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

export class Observer {
  readonly #deps: ObserverDependencies;

  constructor(dependencies: ObserverDependencies) {
    this.#deps = dependencies;
  }

  /** An attempt begins. `heldBy` is undefined for a later one. Returns its span, where tracing is on. */
  started(
    job: Received,
    heldBy: HeldBy | undefined,
    startedAt: number,
    targets: readonly Target[],
  ): Span | undefined {
    const { metrics, tracing } = this.#deps;
    const { acceptedAt, dueAt } = job.delivery;
    if (heldBy) metrics.firstAttempt(startedAt - (acceptedAt ?? job.work.timestamp), heldBy);
    else metrics.laterAttempt(startedAt - (dueAt ?? job.work.timestamp));
    return tracing && startAttemptSpan(tracing, job, targets);
  }

  /**
   * An attempt is over. The promise settles when its record is written or dropped.
   *
   * @param nextDueAt when it is retried, in milliseconds since the epoch
   */
  attempted(delivery: Delivery, outcome: AttemptOutcome, made: Attempt, nextDueAt?: number): Promise<void> {
    const { startedAt, results, span } = made;
    const { deliveryId, acceptedAt = startedAt } = delivery;
    const { names, metrics, publisher, log, now } = this.#deps;
    const hasFailed = outcome.kind !== 'delivered';
    const record = attemptRecord(delivery, outcome, made, {
      ...(nextDueAt !== undefined && { nextDueAt }),
      // A delivered attempt has closed them.
      ...(hasFailed && this.#openSince(delivery, results)),
    });
    metrics.attempted(record, now() - acceptedAt, span ? span.traceparent : delivery.traceparent);
    if (span) endAttemptSpan(span, record);
    // Without a key, the records of a moment are one batch.
    const outgoing = { topic: names.attempts, key: null, value: JSON.stringify(record) };
    const ended = hasFailed ? answersEnded(results) : undefined;
    const published = ended
      ? ended.then(() => publisher.publish({ ...outgoing, headers: this.#headers(delivery, results) }))
      : publisher.publish(outgoing);
    // The delivery does not depend on this record.
    return published.catch((error: unknown) =>
      log.debug({ err: error, deliveryId }, 'attempt record not published'),
    );
  }

  #headers({ destinationId }: Delivery, results: readonly UrlResult[]): Record<string, string> {
    const exchanges = this.#deps.exchanges.encode(destinationId, results);
    return exchanges === undefined ? {} : { [exchangesHeader]: exchanges };
  }

  #openSince({ destinationId }: Delivery, results: readonly UrlResult[]): { breakerOpenSince?: number } {
    const { breakers, now } = this.#deps;
    const since = results
      .flatMap(({ target }) => [target, ...(target.tokenServer ? [target.tokenServer] : [])])
      .map(({ fingerprint }) => breakers.stateOf(destinationId, fingerprint))
      .flatMap(({ state, since }) => (state === 'closed' ? [] : [since]));
    return since.length === 0 ? {} : { breakerOpenSince: now() - performance.now() + Math.min(...since) };
  }

  delivered(work: Work): void {
    this.#deps.metrics.ended(work, 'delivered');
    this.#left(work);
  }

  /** A record in a retry topic is acknowledged: a step of the schedule, or a wait without one. */
  waits({ work, delivery }: Received, cause: Wait['cause'] | undefined): void {
    if (cause) this.#deps.metrics.waits(delivery.destinationId, cause);
    this.#left(work);
  }

  /** A dead letter is acknowledged. */
  died(job: Received, reason: DeadReason, attempts: number, attempt: Attempt | undefined): void {
    const { metrics, log, tracing } = this.#deps;
    const { deliveryId, destinationId, eventId, traceparent } = job.delivery;
    const span = attempt ? attempt.span : tracing && traceDeadLetter(tracing, job, reason);
    const trace = traceFields(span ?? readTraceparent(traceparent));
    log.warn({ deliveryId, destinationId, eventId, attempt: attempts, reason, ...trace }, 'dead letter');
    metrics.deadLetter(destinationId, reason);
    metrics.ended(job.work, 'dead');
    this.#left(job.work);
  }

  /** The dead letter of a record that is not a delivery is acknowledged. */
  malformed({ topic, partition, offset, work }: TrackedRecord, reason: DeadReason, problem: string): void {
    const { metrics, log } = this.#deps;
    log.error({ topic, partition, offset, problem, reason }, 'dead letter');
    metrics.deadLetter('unknown', reason);
    metrics.ended(work, 'dead');
  }

  /** Where the partition was revoked, the new owner repeats a replay and counts it. */
  #left({ topic, revoked }: Work): void {
    if (topic === this.#deps.names.deliveriesReplay && !revoked) this.#deps.metrics.replayed();
  }
}
