/**
 * The loop of the delivery service: a record is taken off its topic, waits until it is due, waits for its turn
 * in its destination's lane, is attempted once at every URL still open, and ends in one of three ways. Only
 * when it is delivered, or when Kafka has acknowledged its successor (in a tier, or among the dead letters), is
 * the record finished, and its offset may be committed.
 *
 * Three things make a successor without an attempt, and none is a step of the schedule: a lane that is slow and full
 * defers the delivery; an open circuit breaker parks it; and where the destination asks for order, one that waits in a
 * tier has the later ones of its user wait behind it.
 */
import type { ConfigView, Destination } from '@tailrace/config';
import type { ConsumedRecord, Publisher, TrackedRecord } from '@tailrace/kafka';
import type { Log } from '@tailrace/service';
import { decodeDelivery, tierDelaysMs, type AttemptRecord, type TopicNames } from '@tailrace/topics';
import type { Sender, Target } from '@tailrace/webhook';
import { Attempts } from './attempts.ts';
import { decide, type RetryPolicy } from './decide.ts';
import { Destinations } from './destinations.ts';
import { HeaderTimes } from './header-times.ts';
import { detach, isOrdered, openTargets } from './job.ts';
import type { Feedback, Task } from './lanes/lane.ts';
import type { Lanes } from './lanes/lanes.ts';
import { Order } from './order.ts';
import type { DeadReason, Outcome } from './outcome.ts';
import { Ownership } from './ownership.ts';
import { Parking } from './parking.ts';
import { Recalls, type RecallSources } from './recall/index.ts';
import { closedNow, feedbackOf, urlAttempt, type UrlResult } from './results.ts';
import { Successors, type Job } from './successors.ts';
import { WaitingRoom } from './tiers.ts';
import { overReason } from './window.ts';

export interface DelivererDependencies {
  readonly names: TopicNames;
  readonly config: Pick<ConfigView, 'destination' | 'refresh'>;
  readonly sender: Sender;
  readonly lanes: Lanes;
  /** For what must not be lost: retries and dead letters. */
  readonly publisher: Pick<Publisher, 'publish'>;
  /** For the record of attempts, which nobody waits for. */
  readonly attemptPublisher: Pick<Publisher, 'publish'>;
  readonly policy: RetryPolicy;
  /** What is unfinished in these partitions, tier by tier. */
  readonly unfinished: (partitions: readonly number[]) => readonly AsyncIterable<readonly ConsumedRecord[]>[];
  /** How far a partition was taken, and where it ends. */
  readonly position: (
    topic: string,
    partition: number,
  ) => { readonly next: number; readonly end: number } | undefined;
  readonly recall: RecallSources;
  /** This replica's part of a destination's rate limit, from 0 to 1. */
  readonly rateShare: () => number;
  readonly observer: DeliveryObserver;
  readonly log: Log;
  readonly now?: () => number;
}

/** What is worth measuring. What is written to a tier or to the dead letters counts when Kafka has acknowledged it. */
export interface DeliveryObserver {
  /** An attempt begins: the delivery's first this long after its acceptance, any other this long after it was due. */
  started(event: { readonly latenessMs: number; readonly first: boolean }): void;
  /** `ageMs` counts from the acceptance. */
  attempted(attempt: AttemptRecord, ageMs: number): void;
  putOff(destinationId: string): void;
  putBehind(destinationId: string): void;
  parked(destinationId: string): void;
  died(destinationId: string, reason: DeadReason): void;
}

const nothingSent: Feedback = { signal: 'none' };

/** What came of the requests of one. */
interface Attempt {
  readonly startedAt: number;
  readonly results: readonly UrlResult[];
}

export class Deliverer {
  readonly #deps: DelivererDependencies;
  readonly #now: () => number;
  readonly #ownership: Ownership;
  readonly #times: HeaderTimes;
  readonly #destinations: Destinations;
  readonly #parking: Parking;
  readonly #attempts: Attempts;
  readonly #successors: Successors;
  readonly #waitingRoom: WaitingRoom<Job>;
  readonly #order: Order<Job>;
  readonly #longestDelayMs: number;
  readonly #recalls: Recalls;

  constructor(dependencies: DelivererDependencies) {
    this.#deps = dependencies;
    this.#now = dependencies.now ?? Date.now;
    const { names, policy, position } = dependencies;
    this.#longestDelayMs = Math.max(...policy.scheduleMs);
    this.#ownership = new Ownership(this.#now);
    this.#times = new HeaderTimes({ names, position, windowMs: policy.windowMs, now: this.#now });
    this.#destinations = new Destinations(dependencies.config);
    this.#parking = new Parking({ ...dependencies, now: this.#now });
    this.#attempts = new Attempts({ ...dependencies, now: this.#now });
    this.#recalls = new Recalls({
      ...dependencies,
      ...dependencies.recall,
      retry: (job) => {
        this.#enqueue({ ...job, background: true });
      },
      drain: (job) => {
        this.#bury(job, 'drained');
      },
      takeWaiting: (id) => this.#waitingRoom.takeOut(({ delivery }) => delivery.destinationId === id),
      giveBack: (job) => {
        this.#waitingRoom.hold(job, job.delivery.dueAt ?? this.#now());
      },
      delivery: (record) => {
        const delivery = decodeDelivery(record);
        return typeof delivery === 'string' ? undefined : this.#times.correct(detach(delivery), record);
      },
      isDown: (job) => this.#isOff(job),
      hasRoom: ({ delivery }) => dependencies.lanes.hasRoomFor(delivery.destinationId),
      now: this.#now,
    });
    this.#successors = new Successors({
      ...dependencies,
      publisher: this.#recalls.watching(dependencies.publisher),
      ownership: this.#ownership,
      tiersMs: tierDelaysMs(policy.scheduleMs),
      now: this.#now,
    });
    this.#waitingRoom = new WaitingRoom({
      onDue: (job) => {
        this.#enqueue(job);
      },
      isStale: ({ work }) => work.revoked,
      now: this.#now,
    });
    this.#order = new Order({
      send: (job) => {
        this.#submit(job, this.#destinationOf(job));
      },
      putBehind: ({ work, delivery }, until, firstAttemptAt) => {
        this.#putBehind({ work, delivery: { ...delivery, firstAttemptAt } }, until);
      },
      giveUp: (job) => {
        this.#bury(job, overReason(job));
      },
      receiver: (job) => {
        const destination = this.#destinationOf(job);
        return this.#parking.receiver(job.delivery, destination ? openTargets(job, destination) : []);
      },
      windowMs: policy.windowMs,
      ...dependencies,
      unfinished: (partitions) =>
        dependencies.unfinished(partitions).map((tier) => this.#recalls.notOver(tier)),
      position: (partition) => position(names.deliveries, partition),
      until: (delivery, record) => this.#times.until(delivery, record),
      now: this.#now,
    });
  }

  /** Deliveries read ahead from the tiers that are not due yet. */
  get waiting(): number {
    return this.#waitingRoom.size;
  }

  /** To be called after each rebalance, before anything is taken. */
  joined(): void {
    this.#ownership.joined();
    this.#recalls.joined();
  }

  /** A URL of the destination is well again. */
  recovered(destinationId: string): void {
    this.#recalls.recovered(destinationId);
  }

  /** To be called when a rebalance begins. */
  rebalancing(): void {
    this.#recalls.rebalancing();
  }

  /** Takes a record of `deliveries`, a tier or the replay lane. */
  take(record: TrackedRecord): void {
    const delivery = decodeDelivery(record);
    if (typeof delivery === 'string') {
      this.#buryMalformed(record, delivery);
      return;
    }
    const job = { work: record.work, delivery: this.#times.correct(detach(delivery), record) };
    if (this.#recalls.take(job)) return;
    // One with a place in an order takes its turn among those held, even where it is due already.
    const { dueAt } = job.delivery;
    const waits = dueAt !== undefined && (dueAt > this.#now() || isOrdered(job));
    if (waits) {
      this.#waitingRoom.hold(job, dueAt);
    } else {
      this.#enqueue(job);
    }
  }

  /** Hands back what has not been attempted, and resolves when what is in flight has ended. */
  async stop(): Promise<void> {
    this.#recalls.stop();
    this.#waitingRoom.clear();
    this.#order.stop();
    await this.#deps.lanes.drain();
    await this.#successors.written();
    await this.#recalls.close();
  }

  #enqueue(job: Job): void {
    const destination = this.#destinationOf(job);
    const ordered = isOrdered(job) ? job : this.#withSequence(job, destination);
    if (ordered) this.#order.arrive(ordered);
    else this.#submit(job, destination);
  }

  #destinationOf({ delivery }: Job): Destination | undefined {
    return this.#destinations.known(delivery.destinationId);
  }

  /** With its place in the order, where it is fresh and its destination asks for order. */
  #withSequence({ work, delivery }: Job, destination: Destination | undefined): Job | undefined {
    if (destination?.ordering !== 'user' || work.topic !== this.#deps.names.deliveries) return undefined;
    return { work, delivery: { ...delivery, sequence: work.offset } };
  }

  #submit(job: Job, destination: Destination | undefined): void {
    if (job.work.revoked) return;
    if (destination?.enabled && !this.#deps.lanes.held) {
      const open = openTargets(job, destination);
      if (this.#parking.isDown(job.delivery, open)) {
        // It asks nothing of its receiver, so it needs no turn.
        this.#park(job, open);
        return;
      }
    }
    const { work } = job;
    const { destinationId, body, dueAt } = job.delivery;
    const task: Task = {
      bytes: body.length,
      requests: destination?.settings.webhooks.length ?? 1,
      get revoked() {
        return work.revoked;
      },
      run: () => this.#deliver(job),
      defer: (waitMs, isRest) => {
        this.#defer(job, waitMs, isRest);
      },
    };
    this.#deps.lanes.submit(destinationId, task, {
      returned: dueAt !== undefined,
      background: this.#isBackground(job),
      ...(destination?.rateLimit !== undefined && {
        rateLimit: destination.rateLimit * this.#deps.rateShare(),
      }),
    });
  }

  /** Replays and what is brought forward give way to the others. */
  #isBackground({ work, delivery, background = false }: Job): boolean {
    return (
      background || delivery.replayedFrom !== undefined || work.topic === this.#deps.names.deliveriesReplay
    );
  }

  /** Whether nothing would be sent for it now. */
  #isOff(job: Job): boolean {
    const destination = this.#destinationOf(job);
    return !destination?.enabled || this.#parking.isDown(job.delivery, openTargets(job, destination));
  }

  async #deliver(job: Job): Promise<Feedback> {
    const { work, delivery } = job;
    // Its new owner reads it again; a copy of ours would be one too many.
    if (work.revoked) return nothingSent;
    const destination = await this.#destinations.find(delivery.destinationId);
    if (!destination) return this.#bury(job, 'destination-deleted');
    if (!destination.enabled) return this.#bury(job, 'destination-disabled');
    if (!isOrdered(job) && this.#withSequence(job, destination)) {
      // That the destination asks for order was news.
      this.#enqueue(job);
      return nothingSent;
    }
    const open = openTargets(job, destination);
    if (open.length === 0) return this.#bury(job, 'no-open-url');

    const startedAt = this.#now();
    const firstAttemptAt = this.#parking.windowBegan(delivery, open);
    // One that was parked all along has its one attempt, should the receiver be back.
    const isOver = startedAt > firstAttemptAt + this.#deps.policy.windowMs;
    if (isOver && delivery.attempt > 0) return this.#bury(job, 'window-exceeded');

    const { destinationId } = delivery;
    const permissions = open.map(({ fingerprint }) => this.#deps.lanes.ask(destinationId, fingerprint));
    if (permissions.every((permission) => permission === 'park')) return this.#park(job, open);

    const first = delivery.attempt === 0;
    const since = (first ? delivery.acceptedAt : delivery.dueAt) ?? work.timestamp;
    this.#deps.observer.started({ latenessMs: startedAt - since, first });
    const results = await Promise.all(
      open.map((target, place) =>
        this.#attempts.send(destination, target, permissions[place] ?? 'send', delivery),
      ),
    );
    const answers = results.map(({ answer }) => answer);
    const attempted = {
      ...delivery,
      attempt: delivery.attempt + 1,
      firstAttemptAt,
      closedUrls: [...delivery.closedUrls, ...closedNow(results)],
    };
    const isProbe = permissions.includes('probe') && !permissions.includes('send');
    const left = isProbe ? openTargets({ work, delivery: attempted }, destination) : [];
    if (this.#parking.isDown(attempted, left)) {
      this.#parkProbe({ work, delivery: attempted }, left, { startedAt, results });
    } else {
      const step = delivery.step + 1;
      const outcome = decide({ step, firstAttemptAt }, answers, this.#deps.policy, this.#now());
      this.#conclude({ work, delivery: { ...attempted, step } }, outcome, { startedAt, results });
    }
    return feedbackOf(results, this.#longestDelayMs);
  }

  #conclude(job: Job, outcome: Outcome, attempt: Attempt): void {
    switch (outcome.kind) {
      case 'delivered':
        job.work.done();
        this.#order.ended(job);
        // Also where the breaker was that of another process.
        if (job.delivery.reason === 'circuit-open') this.#recalls.recovered(job.delivery.destinationId);
        this.#attempts.report(job.delivery, outcome, attempt);
        return;
      case 'retry': {
        const dueAt = this.#successors.retry(job, outcome);
        this.#order.left(job, dueAt);
        this.#attempts.report(job.delivery, outcome, attempt, dueAt);
        return;
      }
      case 'dead': {
        this.#attempts.report(job.delivery, outcome, attempt);
        const lastAnswer = JSON.stringify(attempt.results.map(urlAttempt));
        this.#bury({ ...job, delivery: { ...job.delivery, lastAnswer } }, outcome.reason);
        return;
      }
    }
  }

  /** Lets it wait without an attempt while its URLs are dead. */
  #park(job: Job, targets: readonly Target[]): Feedback {
    const dueAt = this.#parkUntil(job, targets);
    return dueAt === undefined ? this.#bury(job, 'circuit-open') : nothingSent;
  }

  /** A probe is an attempt beside the schedule: it costs no step, and the same delivery makes the next one as well. */
  #parkProbe(job: Job, targets: readonly Target[], attempt: Attempt): void {
    const dueAt = this.#parkUntil(job, targets);
    if (dueAt === undefined) this.#conclude(job, { kind: 'dead', reason: 'circuit-open' }, attempt);
    else {
      const failed = attempt.results.map(({ answer }) => answer).find(({ kind }) => kind === 'retryable');
      const reason = failed?.kind === 'retryable' ? failed.reason : 'circuit-open';
      this.#attempts.report(job.delivery, { kind: 'retry', reason }, attempt, dueAt);
    }
  }

  /** Returns when it is due; undefined where its window is over. */
  #parkUntil({ work, delivery }: Job, targets: readonly Target[]): number | undefined {
    const plan = this.#parking.plan(delivery, targets);
    if (!plan) return undefined;
    const parked = { work, delivery: plan.delivery };
    const dueAt = this.#successors.park(parked, plan, () => {
      this.#deps.observer.parked(delivery.destinationId);
    });
    this.#order.left(parked, dueAt);
    return dueAt;
  }

  /** Lets it wait in a tier for a place in its lane; whatever follows it in order is written behind it. */
  #defer(job: Job, waitMs: number, isRest: boolean): void {
    const placeAt = this.#successors.putOff(job, waitMs, isRest, () => {
      this.#deps.observer.putOff(job.delivery.destinationId);
    });
    this.#order.left(job, placeAt);
  }

  /** Lets it wait in a tier behind an earlier one of its user. */
  #putBehind(job: Job, until: number): void {
    this.#successors.putBehind(job, until, () => {
      this.#deps.observer.putBehind(job.delivery.destinationId);
    });
  }

  #bury(job: Job, reason: DeadReason): Feedback {
    const { deliveryId, destinationId, eventId, attempt } = job.delivery;
    this.#successors.bury(job, reason, () => {
      this.#deps.log.warn({ deliveryId, destinationId, eventId, attempt, reason }, 'dead letter');
      this.#deps.observer.died(destinationId, reason);
      if (reason === 'drained') this.#order.leaves(job);
      this.#order.ended(job);
    });
    return nothingSent;
  }

  #buryMalformed(record: TrackedRecord, problem: string): void {
    const { topic, partition, offset } = record;
    const reason: DeadReason = 'malformed-record';
    this.#successors.buryAsItIs(record, reason, problem, () => {
      this.#deps.log.error({ topic, partition, offset, problem, reason }, 'dead letter');
      this.#deps.observer.died('unknown', reason);
    });
  }
}
