/**
 * The path of one record through the delivery service: `receive` decodes it, turns.ts waits until it is due and has its
 * turn, and `#attempt` looks up the destination, sends the requests, decides and concludes (conclude.ts).
 *
 * A record is finished only when the delivery was delivered, or Kafka has acknowledged its follow-up record. Then its
 * offset may be committed.
 */
import type { ConfigView } from '@tailrace/config';
import type { ConsumedRecord, Publisher, DueRecord } from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import { decodeDelivery, tierDelaysMs, type DeletedUsers, type TopicNames } from '@tailrace/topics';
import type { Tracing } from '@tailrace/tracing';
import type { Sender } from '@tailrace/webhook';
import { Attempts } from './attempt.ts';
import { Conclusions } from './conclude.ts';
import { decide, type RetryPolicy } from './decide.ts';
import { isOfDeletedUser } from './deleted-users.ts';
import { Destinations } from './destinations/destinations.ts';
import { feedbackOf } from './isolation/feedback.ts';
import type { Lanes } from './isolation/lanes.ts';
import { Parking } from './isolation/parking.ts';
import type { Feedback } from './isolation/task.ts';
import { detach, openTargets, type Job } from './job.ts';
import { startAttemptSpan } from './measure/attempt-span.ts';
import { countedWork } from './measure/counted-work.ts';
import { alsoHeldBy, type LaneHold } from './measure/held-by.ts';
import type { DeliveryMetrics } from './metrics.ts';
import type { DeadReason, UrlResult } from './outcome.ts';
import { Pauses } from './destinations/pauses.ts';
import { Recalls, type RecallSources } from './recall/recalls.ts';
import { FollowUps } from './retry/follow-ups.ts';
import { HeaderTimes } from './retry/header-times.ts';
import { Ownership } from './retry/ownership.ts';
import { Turns } from './turns.ts';

export interface DelivererDependencies {
  readonly names: TopicNames;
  readonly config: Pick<ConfigView, 'destination' | 'destinations' | 'refresh' | 'onChange'>;
  readonly deletedUsers: DeletedUsers;
  readonly sender: Sender;
  readonly lanes: Lanes;
  /** For follow-up records, which must be written. */
  readonly publisher: Pick<Publisher, 'publish'>;
  /** For records of attempts. No delivery waits for them, and a commit only for a moment. */
  readonly attemptPublisher: Pick<Publisher, 'publish'>;
  readonly policy: RetryPolicy;
  /** The delay of the retry topic in which deliveries of paused destinations wait; see `pauseDelayMs` in topics.ts. */
  readonly pauseMs: number;
  /** The unfinished records of these partitions, for each retry topic. */
  readonly unfinished: (partitions: readonly number[]) => readonly AsyncIterable<readonly ConsumedRecord[]>[];
  /** The next offset to receive from a partition, and its end. */
  readonly position: (
    topic: string,
    partition: number,
  ) => { readonly next: number; readonly end: number } | undefined;
  readonly recall: RecallSources;
  /** This replica's part of a destination's rate limit, from 0 to 1. */
  readonly rateShare: () => number;
  readonly metrics: DeliveryMetrics;
  readonly log: Log;
  /** Undefined where tracing is off. */
  readonly tracing?: Tracing | undefined;
  readonly now?: () => number;
}

const nothingSent: Feedback = { signal: 'none' };

export class Deliverer {
  readonly #deps: DelivererDependencies;
  readonly #now: () => number;
  readonly #longestDelayMs: number;
  readonly #ownership: Ownership;
  readonly #times: HeaderTimes;
  readonly #destinations: Destinations;
  readonly #parking: Parking;
  readonly #attempts: Attempts;
  readonly #pauses: Pauses;
  readonly #recalls: Recalls;
  readonly #followUps: FollowUps;
  readonly #conclusions: Conclusions;
  readonly #turns: Turns;

  constructor(dependencies: DelivererDependencies) {
    this.#deps = dependencies;
    const { names, policy, pauseMs, position, lanes, publisher, recall, now = Date.now } = dependencies;
    const deps = { ...dependencies, breakers: lanes.breakers, now };
    this.#now = now;
    this.#longestDelayMs = Math.max(...policy.scheduleMs);
    this.#ownership = new Ownership(now);
    this.#times = new HeaderTimes({ names, position, windowMs: policy.windowMs, now });
    this.#destinations = new Destinations(dependencies.config);
    this.#parking = new Parking(deps);
    this.#attempts = new Attempts(deps);
    this.#pauses = new Pauses({
      ...deps,
      onResume: (destinationId) => {
        lanes.breakers.close(destinationId);
        // The recall covers what is in Kafka when it begins.
        void this.#followUps.written().then(() => {
          this.#recalls.resumed(destinationId);
        });
      },
    });
    this.#recalls = new Recalls({
      ...deps,
      ...recall,
      pauseTopic: policy.scheduleMs.includes(pauseMs) ? undefined : names.retryTier(pauseMs),
      retry: (job) => {
        this.#turns.arrive({ ...job, background: true });
      },
      drain: (job) => {
        this.#conclusions.writeDeadLetter(job, 'drained');
      },
      takeDelayed: (destinationId) => this.#turns.takeDelayed(destinationId),
      delay: (job) => {
        this.#turns.delay(job);
      },
      delivery: (record) => {
        const delivery = decodeDelivery(record);
        return typeof delivery === 'string' ? undefined : this.#times.correct(detach(delivery), record);
      },
      isBlocked: (job) => this.#isBlocked(job),
      isHeld: () => lanes.paused,
      hasCapacity: ({ delivery }) => lanes.hasCapacityFor(delivery.destinationId),
    });
    this.#followUps = new FollowUps({
      ...deps,
      publisher: this.#recalls.watching(publisher),
      ownership: this.#ownership,
      tiersMs: tierDelaysMs(policy.scheduleMs),
    });
    this.#conclusions = new Conclusions({
      ...deps,
      followUps: this.#followUps,
      attempts: this.#attempts,
      parking: this.#parking,
      order: () => this.#turns.order,
      onRecovered: (destinationId) => {
        this.#recalls.recovered(destinationId);
      },
    });
    this.#turns = new Turns({
      ...deps,
      destinations: this.#destinations,
      parking: this.#parking,
      pauses: this.#pauses,
      conclusions: this.#conclusions,
      isOfDeletedUser: (job) => this.#isOfDeletedUser(job),
      attempt: (job, heldBy) => this.#attempt(job, heldBy),
      windowMs: policy.windowMs,
      unfinished: (partitions) =>
        dependencies.unfinished(partitions).map((tier) => this.#recalls.notFinished(tier)),
      position: (partition) => position(names.deliveries, partition),
      until: (delivery, record) =>
        this.#pauses.isOver(delivery) ? now() : this.#times.until(delivery, record),
    });
  }

  /** Deliveries that were read ahead from the retry topics and are not due yet. */
  get waiting(): number {
    return this.#turns.notDue;
  }

  /** Receives a record of `deliveries`, a retry topic or the replay topic. */
  receive(record: DueRecord): void {
    const delivery = decodeDelivery(record);
    if (typeof delivery === 'string') {
      this.#conclusions.writeMalformed(record, delivery);
      return;
    }
    const { metrics, names } = this.#deps;
    const countReplayed = (): void => {
      metrics.replayed();
    };
    const isReplay = record.topic === names.deliveriesReplay;
    const work = isReplay ? countedWork(record.work, countReplayed) : record.work;
    const job = { work, delivery: this.#times.correct(detach(delivery), record) };
    if (job.delivery.dueAt !== undefined) record.waitsUntil(job.delivery.dueAt);
    if (this.#recalls.receive(job)) return;
    // Its destination was resumed while another replica owned the partition, or as it was being written.
    if (this.#pauses.isOver(job.delivery)) this.#recalls.foundPaused(job.delivery.destinationId);
    this.#turns.wait(job);
  }

  /** Makes one attempt, in the turn of the delivery. Returns what it shows about the receiver. */
  async #attempt(job: Job, heldBy: LaneHold): Promise<Feedback> {
    const { work, delivery } = job;
    // The new owner of a revoked partition reads the record again, so an attempt would be a duplicate.
    if (work.revoked) return nothingSent;
    if (this.#isOfDeletedUser(job)) return this.#giveUp(job, 'user-deleted');

    const destination = await this.#destinations.find(delivery.destinationId);
    if (!destination) return this.#giveUp(job, 'destination-deleted');
    if (!destination.enabled) return this.#giveUp(job, 'destination-disabled');
    if (this.#turns.needsOrder(job, destination)) {
      // The destination has an order since the configuration was read again.
      this.#turns.arrive(job);
      return nothingSent;
    }
    if (destination.paused) {
      this.#conclusions.pause(job);
      return nothingSent;
    }
    const open = openTargets(job, destination);
    if (open.length === 0) return this.#giveUp(job, 'no-open-url');

    const startedAt = this.#now();
    const firstAttemptAt = this.#parking.windowBegan(delivery, open);
    // A delivery that was parked for its whole window still gets one attempt if the receiver has recovered.
    const isOver = startedAt > firstAttemptAt + this.#deps.policy.windowMs;
    if (isOver && delivery.attempt > 0) return this.#giveUp(job, 'window-exceeded');

    const { lanes, tracing } = this.#deps;
    const { breakers } = lanes;
    const urls = open.map(({ fingerprint }) => fingerprint);
    const permissions = breakers.permit(delivery.destinationId, urls);
    if (permissions.every((permission) => permission === 'park')) {
      this.#conclusions.park(job, open);
      return nothingSent;
    }

    const { metrics } = this.#deps;
    const held = alsoHeldBy(delivery, heldBy);
    if (held) metrics.firstAttempt(startedAt - (delivery.acceptedAt ?? work.timestamp), held);
    else metrics.laterAttempt(startedAt - (delivery.dueAt ?? work.timestamp));
    const span = tracing && startAttemptSpan(tracing, job, open);
    const traceparent = span ? span.traceparent : delivery.traceparent;
    const results = await Promise.all(
      open.map((target, place) =>
        this.#attempts.send(destination, target, permissions[place] ?? 'send', delivery, traceparent),
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
    const stillOpen = isProbe ? openTargets({ work, delivery: attempted }, destination) : [];
    if (this.#parking.isDown(attempted, stillOpen)) {
      this.#conclusions.concludeProbe({ work, delivery: attempted }, stillOpen, attempt);
    } else {
      const step = delivery.step + 1;
      const answers = results.map(({ answer }) => answer);
      const outcome = decide({ step, firstAttemptAt }, answers, this.#deps.policy, this.#now());
      this.#conclusions.conclude({ work, delivery: { ...attempted, step } }, outcome, attempt);
    }
    return feedbackOf(results, this.#longestDelayMs);
  }

  #giveUp(job: Job, reason: DeadReason): Feedback {
    this.#conclusions.writeDeadLetter(job, reason);
    return nothingSent;
  }

  #isOfDeletedUser({ work, delivery }: Job): boolean {
    return isOfDeletedUser(delivery, work.timestamp, this.#deps.deletedUsers);
  }

  /** Whether nothing would be sent now: the destination is disabled or paused, or all its circuit breakers are open. */
  #isBlocked(job: Job): boolean {
    const destination = this.#destinations.known(job.delivery.destinationId);
    if (!destination?.enabled || destination.paused) return true;
    return this.#parking.isDown(job.delivery, openTargets(job, destination));
  }

  /** To be called when the circuit breaker of a URL of the destination has closed. */
  recovered(destinationId: string): void {
    this.#recalls.recovered(destinationId);
  }

  /** To be called when a rebalance begins. */
  rebalancing(): void {
    this.#recalls.rebalancing();
  }

  /** To be called after each rebalance, before any record is received. */
  joined(): void {
    this.#ownership.joined();
    this.#recalls.joined();
  }

  /** Drops what was not attempted, and resolves when everything in flight has ended. */
  async stop(): Promise<void> {
    this.#recalls.stop();
    this.#turns.stop();
    await this.#deps.lanes.drain();
    await this.#followUps.written();
    await this.#recalls.close();
  }
}

/** Returns the fingerprints of the URLs that are not tried again for this delivery. */
function failedPermanently(results: readonly UrlResult[]): string[] {
  return results.filter(({ answer }) => answer.kind === 'permanent').map(({ target }) => target.fingerprint);
}
