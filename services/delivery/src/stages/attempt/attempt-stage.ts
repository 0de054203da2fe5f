/** The fourth stage, in the turn of a delivery: sends the requests. */
import type { Destination } from '@tailrace/config';
import type { DeadReason } from '@tailrace/metrics';
import type { Delivery } from '@tailrace/records';
import type { TopicNames } from '@tailrace/topology';
import {
  requestHeaders,
  tokenServerOf,
  type Answer,
  type Keeping,
  type Sender,
  type Target,
} from '@tailrace/webhook';
import {
  needsOrder,
  openTargets,
  type Down,
  type Job,
  type LaneHold,
  type UrlAnswer,
  type UrlResult,
} from '../../delivery.ts';
import { feedbackOf, succeeds, wasSent } from './feedback.ts';
import type { Feedback } from '../lane/task.ts';
import type { Observer } from '../../observe/observer.ts';
import type { Policies } from '../../receivers/policies.ts';
import type { Receivers } from '../../receivers/receivers.ts';
import type { Settle } from '../../settle/settle.ts';
import { alsoHeldBy } from '../../transition.ts';

export interface AttemptStageDependencies {
  readonly names: Pick<TopicNames, 'deliveries'>;
  readonly receivers: Receivers;
  readonly sender: Pick<Sender, 'send'>;
  /** Undefined where nothing is kept of answers. */
  readonly keep: Keeping | undefined;
  readonly settle: Pick<Settle, 'apply'>;
  readonly policies: Policies;
  readonly observer: Pick<Observer, 'started'>;
  readonly now: () => number;
}

const nothingSent: Feedback = { signal: 'none' };

export class AttemptStage {
  readonly #deps: AttemptStageDependencies;
  readonly #longestDelayMs: number;

  constructor(dependencies: AttemptStageDependencies) {
    this.#deps = dependencies;
    this.#longestDelayMs = Math.max(...dependencies.policies.usual.scheduleMs);
  }

  /**
   * Makes one attempt. Nothing is waited for before the requests, so what is checked here holds when they are sent.
   *
   * @param destination as it is configured now
   * @param withoutToken the answer in place of requests, where they need a token and there is none
   * @returns what it shows about the receiver
   */
  async make(
    job: Job,
    destination: Destination | undefined,
    heldBy: LaneHold,
    withoutToken?: Answer,
  ): Promise<Feedback> {
    const { work, delivery, order } = job;
    // The new owner of a revoked partition reads the record again, so an attempt would be a duplicate.
    if (work.revoked) return nothingSent;
    const { names, receivers, settle, policies, now } = this.#deps;
    if (receivers.isOfDeletedUser(job)) return this.#giveUp(job, 'user-deleted');
    if (delivery.transformFailure !== undefined) return this.#giveUp(job, 'transform-failed');
    if (!destination) return this.#giveUp(job, 'destination-deleted');
    if (!destination.enabled) return this.#giveUp(job, 'destination-disabled');
    if (needsOrder(job, destination, names)) {
      // The destination has an order since the configuration was read again.
      order.arrive(job);
      return nothingSent;
    }
    if (destination.paused) {
      settle.apply(job, { kind: 'paused' });
      return nothingSent;
    }
    const open = openTargets(delivery, destination);
    if (open.length === 0) return this.#giveUp(job, 'no-open-url');

    const { windowMs } = policies.of(destination);
    const startedAt = now();
    const firstAttemptAt = receivers.windowBegan(delivery, open);
    // A delivery that was parked for its whole window still gets one attempt if the receiver has recovered.
    const isOver = startedAt > firstAttemptAt + windowMs;
    if (isOver && delivery.attempt > 0) return this.#giveUp(job, 'window-exceeded');

    const tokenServer = tokenServerOf(destination);
    // The destination may have changed while the token was waited for.
    const noToken = tokenServer && withoutToken;
    if (tokenServer && !noToken) receivers.breakers.worked(delivery.destinationId, tokenServer.fingerprint);
    const permits = receivers.breakers.permit(
      delivery.destinationId,
      (noToken ? [tokenServer] : open).map(({ fingerprint }) => fingerprint),
    );
    const sent = permits.filter((permit) => permit !== undefined);
    if (sent.length === 0) {
      settle.apply(job, receivers.claimProbe(delivery, open, windowMs));
      return nothingSent;
    }

    const span = this.#deps.observer.started(job, alsoHeldBy(delivery, heldBy), startedAt, open);
    const traceparent = span ? span.traceparent : delivery.traceparent;
    // Where the proxy is down, this shows nothing about the token server.
    if (noToken) permits[0]?.report(wasSent(noToken) ? undefined : false, wasSent(noToken));
    const results = await Promise.all(
      open.map(async (target, place) => {
        if (noToken) return notSent(target, noToken);
        const permit = permits[place];
        if (!permit) return notSent(target, circuitOpen);
        const result = await this.#send(destination, target, delivery, traceparent);
        permit.report(succeeds(result.answer), wasSent(result.answer));
        return result;
      }),
    );
    const closedUrls = [...delivery.closedUrls, ...failedPermanently(results)];
    const spanId = span?.sampled ? span.spanId : undefined;
    const isProbe = sent.every((permit) => permit.isProbe);
    const stillOpen = isProbe ? openTargets({ ...delivery, closedUrls }, destination) : [];
    let down: Down | undefined;
    if (receivers.isDown(delivery, stillOpen)) {
      const attempted = { ...delivery, attempt: delivery.attempt + 1, firstAttemptAt };
      down = receivers.claimProbe(attempted, stillOpen, windowMs);
    }
    const event = { kind: 'attempted', results, firstAttemptAt, closedUrls, spanId, down } as const;
    settle.apply(job, event, { startedAt, results, span });
    return feedbackOf(results, this.#longestDelayMs);
  }

  async #send(
    destination: Destination,
    target: Target,
    { deliveryId, destinationId, contentType, requestHeaders: added, body }: Delivery,
    traceparent: string | undefined,
  ): Promise<UrlResult> {
    const { sender, keep, now } = this.#deps;
    const startedAt = performance.now();
    const stamp = { deliveryId, startedAt: now(), contentType, traceparent, added };
    const headers = requestHeaders(destination, target, body, stamp);
    const { origin, path, method, tls, tokenServer, timeoutMs, retryOn, proxy } = target;
    const how = { tls, tokenServer, timeoutMs, retryOn, proxy, keep };
    const request = { destinationId, origin, path, method, headers, body, ...how };
    const answer = await sender.send(request);
    const endedAt = performance.now();
    const latencyMs = Math.round((endedAt - startedAt) * 10) / 10;
    return { target, answer, latencyMs, requestHeaders: headers, made: added };
  }

  #giveUp(job: Job, reason: DeadReason): Feedback {
    this.#deps.settle.apply(job, { kind: 'over', reason });
    return nothingSent;
  }
}

/** The answer of a URL whose circuit breaker permits no request. */
const circuitOpen: UrlAnswer = { kind: 'retryable', reason: 'circuit-open' };

function notSent(target: Target, answer: UrlAnswer): UrlResult {
  return { target, answer, latencyMs: 0 };
}

/** Returns the fingerprints of the URLs that are not tried again for this delivery. */
function failedPermanently(results: readonly UrlResult[]): string[] {
  return results.filter(({ answer }) => answer.kind === 'permanent').map(({ target }) => target.fingerprint);
}
