/** The fourth stage, in the turn of a delivery: looks up its destination, and sends the requests. */
import type { TopicNames } from '@tailrace/topics';
import type { Tracing } from '@tailrace/tracing';
import type { Attempts } from '../attempt.ts';
import {
  needsOrder,
  openTargets,
  withSequence,
  type DeadReason,
  type Job,
  type LaneHold,
  type UrlResult,
} from '../delivery.ts';
import { feedbackOf } from '../isolation/feedback.ts';
import type { Feedback } from '../isolation/task.ts';
import { startAttemptSpan } from '../measure/attempt-span.ts';
import type { DeliveryMetrics } from '../metrics.ts';
import type { Receivers } from '../receivers.ts';
import type { Settle } from '../settle/settle.ts';
import { alsoHeldBy, type RetryPolicy } from '../transition.ts';

export interface AttemptStageDependencies {
  readonly names: Pick<TopicNames, 'deliveries'>;
  readonly receivers: Receivers;
  readonly attempts: Pick<Attempts, 'send'>;
  readonly settle: Pick<Settle, 'apply'>;
  readonly policy: RetryPolicy;
  readonly metrics: Pick<DeliveryMetrics, 'firstAttempt' | 'laterAttempt'>;
  /** Undefined where tracing is off. */
  readonly tracing?: Tracing | undefined;
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
    const { names, receivers, settle, policy, now } = this.#deps;
    if (receivers.isOfDeletedUser(job)) return this.#giveUp(job, 'user-deleted');

    const destination = await receivers.find(delivery);
    if (!destination) return this.#giveUp(job, 'destination-deleted');
    if (!destination.enabled) return this.#giveUp(job, 'destination-disabled');
    if (needsOrder(job, destination, names)) {
      // The destination has an order since the configuration was read again.
      order.arrive(withSequence(job));
      return nothingSent;
    }
    if (destination.paused) {
      settle.apply(job, { kind: 'paused' });
      return nothingSent;
    }
    const open = openTargets(delivery, destination);
    if (open.length === 0) return this.#giveUp(job, 'no-open-url');

    const startedAt = now();
    const firstAttemptAt = receivers.windowBegan(delivery, open);
    // A delivery that was parked for its whole window still gets one attempt if the receiver has recovered.
    const isOver = startedAt > firstAttemptAt + policy.windowMs;
    if (isOver && delivery.attempt > 0) return this.#giveUp(job, 'window-exceeded');

    const urls = open.map(({ fingerprint }) => fingerprint);
    const permissions = receivers.breakers.permit(delivery.destinationId, urls);
    if (permissions.every((permission) => permission === 'park')) {
      settle.apply(job, receivers.claimProbe(delivery, open, policy.windowMs));
      return nothingSent;
    }

    const { attempts, metrics, tracing } = this.#deps;
    const held = alsoHeldBy(delivery, heldBy);
    if (held) metrics.firstAttempt(startedAt - (delivery.acceptedAt ?? work.timestamp), held);
    else metrics.laterAttempt(startedAt - (delivery.dueAt ?? work.timestamp));
    const span = tracing && startAttemptSpan(tracing, job, open);
    const traceparent = span ? span.traceparent : delivery.traceparent;
    const results = await Promise.all(
      open.map((target, place) =>
        attempts.send(destination, target, permissions[place] ?? 'send', delivery, traceparent),
      ),
    );
    const closedUrls = [...delivery.closedUrls, ...failedPermanently(results)];
    const isProbe = permissions.includes('probe') && !permissions.includes('send');
    const stillOpen = isProbe ? openTargets({ closedUrls }, destination) : [];
    const attempted = {
      destinationId: delivery.destinationId,
      attempt: delivery.attempt + 1,
      firstAttemptAt,
    };
    const down = receivers.isDown(delivery, stillOpen)
      ? receivers.claimProbe(attempted, stillOpen, policy.windowMs)
      : undefined;
    const spanId = span?.sampled ? span.spanId : undefined;
    settle.apply(
      job,
      { kind: 'attempted', results, firstAttemptAt, closedUrls, spanId, down },
      { startedAt, results, span },
    );
    return feedbackOf(results, this.#longestDelayMs);
  }

  #giveUp(job: Job, reason: DeadReason): Feedback {
    this.#deps.settle.apply(job, { kind: 'over', reason });
    return nothingSent;
  }
}

/** Returns the fingerprints of the URLs that are not tried again for this delivery. */
function failedPermanently(results: readonly UrlResult[]): string[] {
  return results.filter(({ answer }) => answer.kind === 'permanent').map(({ target }) => target.fingerprint);
}
