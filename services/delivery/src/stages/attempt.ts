/** The fourth stage, in the turn of a delivery: looks up its destination, sends the requests, and decides what follows. */
import type { TopicNames } from '@tailrace/topics';
import type { Tracing } from '@tailrace/tracing';
import type { Attempts } from '../attempt.ts';
import type { Conclusions } from '../conclude.ts';
import { decide, type RetryPolicy } from '../decide.ts';
import { feedbackOf } from '../isolation/feedback.ts';
import type { Parking } from '../isolation/parking.ts';
import type { Feedback } from '../isolation/task.ts';
import { needsOrder, openTargets, withSequence, type Job } from '../job.ts';
import { startAttemptSpan } from '../measure/attempt-span.ts';
import { alsoHeldBy, type LaneHold } from '../measure/held-by.ts';
import type { DeliveryMetrics } from '../metrics.ts';
import type { DeadReason, UrlResult } from '../outcome.ts';
import type { Receivers } from '../receivers.ts';

export interface AttemptStageDependencies {
  readonly names: Pick<TopicNames, 'deliveries'>;
  readonly receivers: Receivers;
  readonly parking: Parking;
  readonly attempts: Pick<Attempts, 'send'>;
  readonly conclusions: Pick<
    Conclusions,
    'conclude' | 'concludeProbe' | 'park' | 'pause' | 'writeDeadLetter'
  >;
  readonly policy: RetryPolicy;
  readonly observer: {
    readonly metrics: Pick<DeliveryMetrics, 'firstAttempt' | 'laterAttempt'>;
    /** Undefined where tracing is off. */
    readonly tracing?: Tracing | undefined;
  };
  readonly now: () => number;
}

const nothingSent: Feedback = { signal: 'none' };

export class AttemptStage {
  readonly #deps: AttemptStageDependencies;
  readonly #longestDelayMs: number;

  constructor(dependencies: AttemptStageDependencies) {
    this.#deps = dependencies;
    this.#longestDelayMs = Math.max(...dependencies.policy.scheduleMs);
  }

  /** Makes one attempt. Returns what it shows about the receiver. */
  async make(job: Job, heldBy: LaneHold): Promise<Feedback> {
    const { work, delivery, order } = job;
    // The new owner of a revoked partition reads the record again, so an attempt would be a duplicate.
    if (work.revoked) return nothingSent;
    const { names, receivers, parking, conclusions, policy, now } = this.#deps;
    if (receivers.isOfDeletedUser(job)) return this.#giveUp(job, 'user-deleted');

    const destination = await receivers.destinations.find(delivery.destinationId);
    if (!destination) return this.#giveUp(job, 'destination-deleted');
    if (!destination.enabled) return this.#giveUp(job, 'destination-disabled');
    if (needsOrder(job, destination, names)) {
      // The destination has an order since the configuration was read again.
      order.arrive(withSequence(job));
      return nothingSent;
    }
    if (destination.paused) {
      conclusions.pause(job);
      return nothingSent;
    }
    const open = openTargets(delivery, destination);
    if (open.length === 0) return this.#giveUp(job, 'no-open-url');

    const startedAt = now();
    const firstAttemptAt = parking.windowBegan(delivery, open);
    // A delivery that was parked for its whole window still gets one attempt if the receiver has recovered.
    const isOver = startedAt > firstAttemptAt + policy.windowMs;
    if (isOver && delivery.attempt > 0) return this.#giveUp(job, 'window-exceeded');

    const urls = open.map(({ fingerprint }) => fingerprint);
    const permissions = receivers.breakers.permit(delivery.destinationId, urls);
    if (permissions.every((permission) => permission === 'park')) {
      conclusions.park(job, open);
      return nothingSent;
    }

    const { attempts, observer } = this.#deps;
    const held = alsoHeldBy(delivery, heldBy);
    if (held) observer.metrics.firstAttempt(startedAt - (delivery.acceptedAt ?? work.timestamp), held);
    else observer.metrics.laterAttempt(startedAt - (delivery.dueAt ?? work.timestamp));
    const span = observer.tracing && startAttemptSpan(observer.tracing, job, open);
    const traceparent = span ? span.traceparent : delivery.traceparent;
    const results = await Promise.all(
      open.map((target, place) =>
        attempts.send(destination, target, permissions[place] ?? 'send', delivery, traceparent),
      ),
    );
    const attempt = { startedAt, results, span };
    const attempted = {
      ...delivery,
      attempt: delivery.attempt + 1,
      firstAttemptAt,
      firstAttemptSpan: delivery.firstAttemptSpan ?? (span?.sampled ? span.spanId : undefined),
      closedUrls: [...delivery.closedUrls, ...failedPermanently(results)],
    };

    const isProbe = permissions.includes('probe') && !permissions.includes('send');
    const stillOpen = isProbe ? openTargets(attempted, destination) : [];
    if (receivers.isDown(attempted, stillOpen)) {
      conclusions.concludeProbe({ work, order, delivery: attempted }, stillOpen, attempt);
    } else {
      const step = delivery.step + 1;
      const answers = results.map(({ answer }) => answer);
      const outcome = decide({ step, firstAttemptAt }, answers, policy, now());
      conclusions.conclude({ work, order, delivery: { ...attempted, step } }, outcome, attempt);
    }
    return feedbackOf(results, this.#longestDelayMs);
  }

  #giveUp(job: Job, reason: DeadReason): Feedback {
    this.#deps.conclusions.writeDeadLetter(job, reason);
    return nothingSent;
  }
}

/** Returns the fingerprints of the URLs that are not tried again for this delivery. */
function failedPermanently(results: readonly UrlResult[]): string[] {
  return results.filter(({ answer }) => answer.kind === 'permanent').map(({ target }) => target.fingerprint);
}
