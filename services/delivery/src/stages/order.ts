/** The second stage: where its destination has an order, a delivery waits for earlier ones of its user. */
import type { TopicNames } from '@tailrace/topics';
import type { Conclusions } from '../conclude.ts';
import { isOrdered, needsOrder, withSequence, type Job } from '../job.ts';
import { alsoHeldBy } from '../measure/held-by.ts';
import { Order, type OrderDependencies } from '../ordering/order.ts';
import type { Receivers } from '../receivers.ts';
import { windowEndedReason } from '../retry/window.ts';
import type { LaneStage } from './lane.ts';

export interface OrderStageDependencies extends Pick<
  OrderDependencies<Job>,
  'waiting' | 'windowMs' | 'log' | 'now'
> {
  readonly names: Pick<TopicNames, 'deliveries'>;
  readonly receivers: Receivers;
  readonly lane: Pick<LaneStage, 'submit' | 'isPaused'>;
  readonly conclusions: Pick<Conclusions, 'pause' | 'waitBehind' | 'writeDeadLetter'>;
}

export class OrderStage {
  readonly order: Order<Job>;
  readonly #deps: OrderStageDependencies;

  constructor(dependencies: OrderStageDependencies) {
    this.#deps = dependencies;
    const { receivers, lane, conclusions, waiting, windowMs, log, now } = dependencies;
    this.order = new Order({
      exits: {
        send: (job, hasWaited) => {
          lane.submit(hasWaited ? heldByOrder(job) : job, receivers.destinationOf(job));
        },
        waitBehind: (job, until, firstAttemptAt) => {
          conclusions.waitBehind({ ...job, delivery: { ...job.delivery, firstAttemptAt } }, until);
        },
        giveUp: (job) => {
          conclusions.writeDeadLetter(job, windowEndedReason(job));
        },
        pause: (job) => conclusions.pause(job),
      },
      receivers: {
        isPaused: (job) => lane.isPaused(receivers.destinationOf(job)) && !receivers.isOfDeletedUser(job),
        receiverOf: (job) => receivers.receiverOf(job),
      },
      waiting,
      windowMs,
      log,
      now,
    });
  }

  /** Lets a delivery that is due wait for its place in the order, then for its lane. */
  arrive(job: Job): void {
    const { names, receivers, lane } = this.#deps;
    const destination = receivers.destinationOf(job);
    if (isOrdered(job)) this.order.arrive(job);
    else if (needsOrder(job, destination, names)) this.order.arrive(withSequence(job));
    else lane.submit(job, destination);
  }
}

function heldByOrder(job: Job): Job {
  const { delivery } = job;
  return { ...job, delivery: { ...delivery, heldBy: alsoHeldBy(delivery, 'order') } };
}
