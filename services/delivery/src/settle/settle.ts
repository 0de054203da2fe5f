/**
 * The last stage: when something has happened to a delivery, its record is finished, or a follow-up record is written. The
 * order of its user, the metrics and the log follow.
 */
import type { TrackedRecord } from '@tailrace/kafka';
import type { DeadReason } from '@tailrace/metrics';
import type { Effect, Event, Job, Retry, Wait } from '../delivery.ts';
import type { Exchanges } from '../observe/exchanges.ts';
import type { Attempt, Observer } from '../observe/observer.ts';
import type { Policies } from '../receivers/policies.ts';
import type { Signs } from '../sources/recall/signs.ts';
import type { FollowUps } from './follow-ups.ts';
import { transition } from '../transition.ts';

export interface SettleDependencies {
  readonly followUps: FollowUps;
  readonly observer: Observer;
  readonly exchanges: Pick<Exchanges, 'encode'>;
  readonly signs: Pick<Signs, 'failed' | 'recovered'>;
  readonly policies: Policies;
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
    const { policies, now } = this.#deps;
    const effect = transition(job.delivery, event, policies.ofDelivery(job.delivery), now());
    switch (effect.kind) {
      case 'delivered':
        return this.#deliver(job, effect, attempt);
      case 'dead':
        return this.#die(job, effect, attempt);
      case 'retry':
      case 'wait':
        return this.#wait(job, effect, attempt);
    }
  }

  #deliver(job: Job, effect: Extract<Effect, { kind: 'delivered' }>, attempt: Attempt | undefined): number {
    const { observer, signs } = this.#deps;
    const { work, delivery, order } = job;
    observer.delivered(work);
    // Nothing else says that it was delivered. All other outcomes leave a follow-up record, which is acknowledged first.
    work.done(attempt && observer.attempted(effect.delivery, effect, attempt));
    order.ended(job);
    // The circuit breaker may have been open in another process only.
    if (delivery.reason === 'circuit-open') signs.recovered(delivery.destinationId);
    return Infinity;
  }

  #wait(job: Job, effect: Retry | Wait, attempt: Attempt | undefined): number {
    const { followUps, observer, signs } = this.#deps;
    const { work, delivery, order } = job;
    const isFailure = effect.kind === 'retry' || effect.cause === 'parked';
    if (isFailure && !work.revoked) signs.failed.add(delivery.destinationId);
    const dueAt = followUps.write(work, effect, () =>
      observer.waits(job, effect.kind === 'wait' ? effect.cause : undefined),
    );
    const until = Math.max(dueAt ?? 0, effect.delivery.placeAt ?? 0);
    order.left(job, until);
    if (attempt) {
      const reason = effect.kind === 'retry' ? effect.reason : reasonOf(attempt);
      void observer.attempted(effect.delivery, { kind: 'retry', reason }, attempt, dueAt);
    }
    return until;
  }

  #die(job: Job, effect: Extract<Effect, { kind: 'dead' }>, attempt: Attempt | undefined): number {
    const { followUps, observer, exchanges } = this.#deps;
    const { work, order } = job;
    const { reason, delivery } = effect;
    if (attempt) void observer.attempted(delivery, effect, attempt);
    // It does not wait for the rest of the answers.
    const kept = attempt && exchanges.encode(delivery.destinationId, attempt.results);
    followUps.write(work, { ...effect, delivery: { ...delivery, exchanges: kept } }, () => {
      observer.died(job, reason, delivery.attempt, attempt);
      if (reason === 'drained') order.removed(job);
      order.ended(job);
    });
    return Infinity;
  }

  /** Writes a dead letter for a record that is not a delivery. */
  writeMalformed(record: TrackedRecord, problem: string): void {
    const { followUps, observer } = this.#deps;
    const reason: DeadReason = 'malformed-record';
    followUps.writeMalformed(record, reason, problem, () => observer.malformed(record, reason, problem));
  }
}

/** The reason of the first failed request of a probe. */
function reasonOf({ results }: Attempt): string {
  const failed = results.map(({ answer }) => answer).find(({ kind }) => kind === 'retryable');
  return failed?.kind === 'retryable' ? failed.reason : 'circuit-open';
}
