/**
 * The last stage: when something has happened to a delivery, its record is finished, or a follow-up record is written. The
 * order of its user, the metrics and the log follow.
 */
import type { TrackedRecord } from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import { readTraceparent, traceFields, type Tracing } from '@tailrace/tracing';
import type { DeadReason, Effect, Event, Job, Retry, Wait } from '../delivery.ts';
import type { Attempt, AttemptReports } from '../measure/attempt-reports.ts';
import { traceDeadLetter } from '../measure/attempt-span.ts';
import type { DeliveryMetrics } from '../metrics.ts';
import type { Signs } from '../recall/signs.ts';
import type { FollowUps } from '../retry/follow-ups.ts';
import { transition, type DeliveryPolicy } from '../transition.ts';

export interface SettleDependencies {
  readonly followUps: FollowUps;
  readonly attempts: Pick<AttemptReports, 'report'>;
  readonly signs: Pick<Signs, 'failed' | 'recovered'>;
  readonly policy: DeliveryPolicy;
  readonly metrics: Pick<DeliveryMetrics, 'waits' | 'deadLetter' | 'ended'>;
  readonly log: Pick<Log, 'warn' | 'error'>;
  /** Undefined where tracing is off. */
  readonly tracing?: Tracing | undefined;
  readonly now: () => number;
}

/** A follow-up record counts in metrics and log when Kafka has acknowledged it. */
export class Settle {
  readonly #deps: SettleDependencies;

  constructor(dependencies: SettleDependencies) {
    this.#deps = dependencies;
  }

  /**
   * @param attempt where the event is one
   * @returns when the delivery is expected again, in milliseconds since the epoch; Infinity where it has ended
   */
  apply(job: Job, event: Event, attempt?: Attempt): number {
    const { policy, now } = this.#deps;
    const effect = transition(job.delivery, event, policy, now());
    switch (effect.kind) {
      case 'delivered':
        this.#deliver(job, effect, attempt);
        return Infinity;
      case 'dead':
        this.#die(job, effect, attempt);
        return Infinity;
      case 'retry':
      case 'wait':
        return this.#wait(job, effect, attempt);
    }
  }

  #deliver(job: Job, effect: Extract<Effect, { kind: 'delivered' }>, attempt: Attempt | undefined): void {
    const { attempts, metrics, signs } = this.#deps;
    const { work, delivery, order } = job;
    metrics.ended(work, 'delivered');
    // Nothing else says that it was delivered. All other outcomes leave a follow-up record, which is acknowledged first.
    work.done(attempt && attempts.report(effect.delivery, effect, attempt));
    order.ended(job);
    // The circuit breaker may have been open in another process only.
    if (delivery.reason === 'circuit-open') signs.recovered(delivery.destinationId);
  }

  #wait(job: Job, effect: Retry | Wait, attempt: Attempt | undefined): number {
    const { followUps, attempts, metrics, signs } = this.#deps;
    const { work, delivery, order } = job;
    const { destinationId } = delivery;
    const isFailure = effect.kind === 'retry' || effect.cause === 'parked';
    if (isFailure && !work.revoked) signs.failed.add(destinationId);
    const dueAt = followUps.write(work, effect, () => {
      if (effect.kind === 'wait') metrics.waits(destinationId, effect.cause);
    });
    const until = Math.max(dueAt ?? 0, effect.delivery.placeAt ?? 0);
    order.left(job, until);
    if (attempt) {
      const reason = effect.kind === 'retry' ? effect.reason : reasonOf(attempt);
      void attempts.report(effect.delivery, { kind: 'retry', reason }, attempt, dueAt);
    }
    return until;
  }

  #die(job: Job, effect: Extract<Effect, { kind: 'dead' }>, attempt: Attempt | undefined): void {
    const { followUps, attempts, metrics, log, tracing } = this.#deps;
    const { work, order } = job;
    const { reason, delivery } = effect;
    const { deliveryId, destinationId, eventId, traceparent } = delivery;
    if (attempt) void attempts.report(delivery, effect, attempt);
    followUps.write(work, effect, () => {
      const span = attempt ? attempt.span : tracing && traceDeadLetter(tracing, job, reason);
      const trace = traceFields(span ?? readTraceparent(traceparent));
      log.warn(
        { deliveryId, destinationId, eventId, attempt: delivery.attempt, reason, ...trace },
        'dead letter',
      );
      metrics.deadLetter(destinationId, reason);
      metrics.ended(work, 'dead');
      if (reason === 'drained') order.removed(job);
      order.ended(job);
    });
  }

  /** Writes a dead letter for a record that is not a delivery. */
  writeMalformed(record: TrackedRecord, problem: string): void {
    const { followUps, metrics, log } = this.#deps;
    const { topic, partition, offset } = record;
    const reason: DeadReason = 'malformed-record';
    followUps.writeMalformed(record, reason, problem, () => {
      log.error({ topic, partition, offset, problem, reason }, 'dead letter');
      metrics.deadLetter('unknown', reason);
      metrics.ended(record.work, 'dead');
    });
  }
}

/** The reason of the first failed request of a probe. */
function reasonOf({ results }: Attempt): string {
  const failed = results.map(({ answer }) => answer).find(({ kind }) => kind === 'retryable');
  return failed?.kind === 'retryable' ? failed.reason : 'circuit-open';
}
