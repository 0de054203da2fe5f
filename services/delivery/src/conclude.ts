/**
 * Concludes the processing of a record: it is delivered, or a follow-up record is written (a retry, a deferral, a parked
 * delivery or a dead letter). The order of its user, the metrics and the log follow.
 */
import type { TrackedRecord } from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import { readTraceparent, traceFields, type Tracing } from '@tailrace/tracing';
import type { Target } from '@tailrace/webhook';
import type { Attempt, Attempts } from './attempt.ts';
import type { Parking } from './isolation/parking.ts';
import type { Deferral } from './isolation/task.ts';
import type { Job } from './job.ts';
import { urlAttempt } from './measure/attempt-record.ts';
import { traceDeadLetter } from './measure/attempt-span.ts';
import type { DeliveryMetrics } from './metrics.ts';
import type { DeadReason, Outcome } from './outcome.ts';
import type { Signs } from './recall/signs.ts';
import type { FollowUps } from './retry/follow-ups.ts';

export interface ConclusionsDependencies {
  readonly followUps: FollowUps;
  readonly attempts: Pick<Attempts, 'report'>;
  readonly parking: Pick<Parking, 'plan'>;
  readonly signs: Pick<Signs, 'failed' | 'recovered'>;
  readonly metrics: Pick<
    DeliveryMetrics,
    'deferred' | 'waitsBehind' | 'parked' | 'paused' | 'deadLetter' | 'ended'
  >;
  readonly log: Pick<Log, 'warn' | 'error'>;
  /** Undefined where tracing is off. */
  readonly tracing?: Tracing | undefined;
}

/** A follow-up record counts in metrics and log when Kafka has acknowledged it. */
export class Conclusions {
  readonly #deps: ConclusionsDependencies;

  constructor(dependencies: ConclusionsDependencies) {
    this.#deps = dependencies;
  }

  /** Concludes an attempt. */
  conclude(job: Job, outcome: Outcome, attempt: Attempt): void {
    const { followUps, attempts, signs, metrics } = this.#deps;
    switch (outcome.kind) {
      case 'delivered':
        metrics.ended(job.work, 'delivered');
        // Nothing else says that it was delivered. All other outcomes leave a follow-up record, which is acknowledged first.
        job.work.done(attempts.report(job.delivery, outcome, attempt));
        job.order.ended(job);
        // The circuit breaker may have been open in another process only.
        if (job.delivery.reason === 'circuit-open') signs.recovered(job.delivery.destinationId);
        return;
      case 'retry': {
        this.#showsFailure(job);
        const dueAt = followUps.retry(job, outcome);
        job.order.left(job, dueAt);
        void attempts.report(job.delivery, outcome, attempt, dueAt);
        return;
      }
      case 'dead': {
        void attempts.report(job.delivery, outcome, attempt);
        const lastAnswer = JSON.stringify(attempt.results.map(urlAttempt));
        this.writeDeadLetter({ ...job, delivery: { ...job.delivery, lastAnswer } }, outcome.reason, attempt);
        return;
      }
    }
  }

  /**
   * Concludes a failed probe. A probe is an attempt beside the schedule: it costs no step, and the same delivery makes the
   * next one.
   */
  concludeProbe(job: Job, targets: readonly Target[], attempt: Attempt): void {
    const dueAt = this.#parkUntil(job, targets);
    if (dueAt === undefined) this.conclude(job, { kind: 'dead', reason: 'circuit-open' }, attempt);
    else {
      const failed = attempt.results.map(({ answer }) => answer).find(({ kind }) => kind === 'retryable');
      const reason = failed?.kind === 'retryable' ? failed.reason : 'circuit-open';
      void this.#deps.attempts.report(job.delivery, { kind: 'retry', reason }, attempt, dueAt);
    }
  }

  /** Parks a delivery whose circuit breakers are open, until its window ends. */
  park(job: Job, targets: readonly Target[]): void {
    if (this.#parkUntil(job, targets) === undefined) this.writeDeadLetter(job, 'circuit-open');
  }

  /** Lets a delivery wait while its destination is paused. Returns until when, without a recall. */
  pause(job: Job): number {
    const { followUps, metrics } = this.#deps;
    const dueAt = followUps.pause(job, () => {
      metrics.paused(job.delivery.destinationId);
    });
    job.order.left(job, dueAt);
    return dueAt;
  }

  /** Defers a delivery whose lane is full. */
  defer(job: Job, deferral: Deferral): void {
    const { followUps, metrics } = this.#deps;
    const placeAt = followUps.defer(job, deferral, () => {
      metrics.deferred(job.delivery.destinationId);
    });
    job.order.left(job, placeAt);
  }

  /** Lets a delivery wait in a retry topic behind an earlier one of its user. */
  waitBehind(job: Job, until: number): void {
    const { followUps, metrics } = this.#deps;
    followUps.waitBehind(job, until, () => {
      metrics.waitsBehind(job.delivery.destinationId);
    });
  }

  /** Writes a dead letter, after its last attempt or without one. */
  writeDeadLetter(job: Job, reason: DeadReason, attempt?: Attempt): void {
    const { followUps, metrics, log, tracing } = this.#deps;
    const { deliveryId, destinationId, eventId, traceparent } = job.delivery;
    followUps.writeDeadLetter(job, reason, () => {
      const span = attempt ? attempt.span : tracing && traceDeadLetter(tracing, job, reason);
      const trace = traceFields(span ?? readTraceparent(traceparent));
      log.warn(
        { deliveryId, destinationId, eventId, attempt: job.delivery.attempt, reason, ...trace },
        'dead letter',
      );
      metrics.deadLetter(destinationId, reason);
      metrics.ended(job.work, 'dead');
      if (reason === 'drained') job.order.removed(job);
      job.order.ended(job);
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

  /** Returns when the delivery is due again; undefined where its window has ended. */
  #parkUntil(job: Job, targets: readonly Target[]): number | undefined {
    const { followUps, parking, metrics } = this.#deps;
    const { work, delivery, order } = job;
    const plan = parking.plan(delivery, targets);
    if (!plan) return undefined;
    this.#showsFailure(job);
    const parked = { work, order, delivery: plan.delivery };
    const dueAt = followUps.park(parked, plan, () => {
      metrics.parked(delivery.destinationId);
    });
    order.left(parked, dueAt);
    return dueAt;
  }

  #showsFailure({ work, delivery }: Job): void {
    if (!work.revoked) this.#deps.signs.failed(delivery.destinationId);
  }
}
