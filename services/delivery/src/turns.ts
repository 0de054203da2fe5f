/**
 * The waiting stage of a delivery: until it is due, then, where its destination has an order, for earlier deliveries of its
 * user, then for its turn in the lane of its destination. `attempt` is called when all three are over.
 */
import type { Destination } from '@tailrace/config';
import type { TopicNames } from '@tailrace/topics';
import type { Conclusions } from './conclude.ts';
import type { Destinations } from './destinations/destinations.ts';
import type { Lanes } from './isolation/lanes.ts';
import type { Parking } from './isolation/parking.ts';
import type { Feedback, Task } from './isolation/task.ts';
import { isOrdered, openTargets, type Job } from './job.ts';
import { alsoHeldBy, type LaneHold } from './measure/held-by.ts';
import { Order, type OrderDependencies } from './ordering/order.ts';
import type { Pauses } from './destinations/pauses.ts';
import { DelayQueue } from './retry/delay-queue.ts';
import { windowEndedReason } from './retry/window.ts';

type OrderSources = Pick<
  OrderDependencies<Job>,
  'unfinished' | 'position' | 'until' | 'windowMs' | 'log' | 'now'
>;

export interface TurnsDependencies extends OrderSources {
  readonly names: Pick<TopicNames, 'deliveries' | 'deliveriesReplay'>;
  readonly lanes: Pick<Lanes, 'submit' | 'paused'>;
  readonly destinations: Pick<Destinations, 'known'>;
  readonly parking: Parking;
  readonly pauses: Pick<Pauses, 'resumedAt'>;
  readonly conclusions: Pick<Conclusions, 'park' | 'pause' | 'defer' | 'waitBehind' | 'writeDeadLetter'>;
  /** This replica's part of a destination's rate limit, from 0 to 1. */
  readonly rateShare: () => number;
  /** Whether the delivery must not be sent any more, because its user was deleted. */
  readonly isOfDeletedUser: (job: Job) => boolean;
  /** Must not reject. */
  readonly attempt: (job: Job, heldBy: LaneHold) => Promise<Feedback>;
}

export class Turns {
  readonly order: Order<Job>;
  readonly #deps: TurnsDependencies;
  readonly #delayQueue: DelayQueue<Job>;

  constructor(dependencies: TurnsDependencies) {
    this.#deps = dependencies;
    const { conclusions, parking, now } = dependencies;
    this.#delayQueue = new DelayQueue({
      onDue: (job) => {
        this.arrive(job);
      },
      isStale: ({ work }) => work.revoked,
      now,
    });
    this.order = new Order({
      ...dependencies,
      send: (job, hasWaited) => {
        this.#submit(hasWaited ? heldByOrder(job) : job, this.#destinationOf(job));
      },
      waitBehind: ({ work, delivery }, until, firstAttemptAt) => {
        conclusions.waitBehind({ work, delivery: { ...delivery, firstAttemptAt } }, until);
      },
      giveUp: (job) => {
        conclusions.writeDeadLetter(job, windowEndedReason(job));
      },
      isPaused: (job) => this.#isPaused(this.#destinationOf(job)) && !dependencies.isOfDeletedUser(job),
      pause: (job) => conclusions.pause(job),
      receiver: (job) => {
        const destination = this.#destinationOf(job);
        const receiver = parking.receiver(job.delivery, destination ? openTargets(job, destination) : []);
        const since = Math.max(receiver.since, dependencies.pauses.resumedAt(job.delivery.destinationId));
        return receiver.isDown ? receiver : { ...receiver, since };
      },
    });
  }

  /** Deliveries that were read ahead from the retry topics and are not due yet. */
  get notDue(): number {
    return this.#delayQueue.size;
  }

  /** Calls `attempt` when it is the delivery's turn. */
  wait(job: Job): void {
    const { dueAt } = job.delivery;
    // An ordered delivery that is due already still queues behind those that are due earlier.
    if (dueAt !== undefined && (dueAt > this.#deps.now() || isOrdered(job))) this.delay(job);
    else this.arrive(job);
  }

  /** Lets a delivery wait until it is due. */
  delay(job: Job): void {
    this.#delayQueue.add(job, job.delivery.dueAt ?? this.#deps.now());
  }

  /** Removes and returns the deliveries of a destination that are not due yet, earliest first. */
  takeDelayed(destinationId: string): Job[] {
    return this.#delayQueue.remove(({ delivery }) => delivery.destinationId === destinationId);
  }

  /** Lets a delivery that is due wait for its place in the order, then for its lane. */
  arrive(job: Job): void {
    const destination = this.#destinationOf(job);
    if (isOrdered(job)) this.order.arrive(job);
    else if (this.needsOrder(job, destination)) this.order.arrive(withSequence(job));
    else this.#submit(job, destination);
  }

  /** Whether the delivery is new, its destination has an order, and it has no place in it yet. */
  needsOrder(job: Job, destination: Destination | undefined): boolean {
    return (
      destination?.ordering === 'user' && !isOrdered(job) && job.work.topic === this.#deps.names.deliveries
    );
  }

  stop(): void {
    this.#delayQueue.clear();
    this.order.stop();
  }

  #destinationOf({ delivery }: Job): Destination | undefined {
    return this.#deps.destinations.known(delivery.destinationId);
  }

  /** While lanes are paused nothing can be committed, so nothing is written, and the delivery waits for a turn first. */
  #isPaused(destination: Destination | undefined): boolean {
    return destination?.paused === true && destination.enabled && !this.#deps.lanes.paused;
  }

  #submit(job: Job, destination: Destination | undefined): void {
    if (job.work.revoked) return;
    const { lanes, parking, conclusions, attempt, rateShare, isOfDeletedUser } = this.#deps;
    if (!lanes.paused && isOfDeletedUser(job)) {
      conclusions.writeDeadLetter(job, 'user-deleted');
      return;
    }
    if (this.#isPaused(destination)) {
      conclusions.pause(job);
      return;
    }
    if (destination?.enabled && !lanes.paused) {
      const open = openTargets(job, destination);
      if (parking.isDown(job.delivery, open)) {
        // Parking sends nothing to the receiver, so it needs no turn.
        conclusions.park(job, open);
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
      since: performance.now(),
      run: (heldBy) => attempt(job, heldBy),
      defer: (deferral) => {
        conclusions.defer(job, deferral);
      },
    };
    lanes.submit(destinationId, task, {
      returned: dueAt !== undefined,
      background: this.#isBackground(job),
      ...(destination?.rateLimit !== undefined && { rateLimit: destination.rateLimit * rateShare() }),
    });
  }

  /** Whether the delivery was replayed or recalled. */
  #isBackground({ work, delivery, background = false }: Job): boolean {
    return (
      background || delivery.replayedFrom !== undefined || work.topic === this.#deps.names.deliveriesReplay
    );
  }
}

function heldByOrder(job: Job): Job {
  const { delivery } = job;
  return { ...job, delivery: { ...delivery, heldBy: alsoHeldBy(delivery, 'order') } };
}

/** The place of a delivery in the order is its offset in `deliveries`. */
function withSequence({ work, delivery }: Job): Job {
  return { work, delivery: { ...delivery, sequence: work.offset } };
}
