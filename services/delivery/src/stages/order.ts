/** The second stage: where its destination has an order, a delivery waits for earlier ones of its user. */
import type { TopicNames } from '@tailrace/topics';
import { isOrdered, needsOrder, withSequence, type Job } from '../delivery.ts';
import { Order, type OrderDependencies } from '../ordering/order.ts';
import type { Receivers } from '../receivers.ts';
import type { Settle } from '../settle/settle.ts';
import { alsoHeldBy, windowEndedReason } from '../transition.ts';
import type { LaneStage } from './lane.ts';

export interface OrderStageDependencies extends Pick<
  OrderDependencies<Job>,
  'waiting' | 'windowMs' | 'log' | 'now'
> {
  readonly names: Pick<TopicNames, 'deliveries'>;
  readonly receivers: Receivers;
  readonly lane: Pick<LaneStage, 'submit' | 'isPaused'>;
  readonly settle: Pick<Settle, 'apply'>;
}

export class OrderStage {
  readonly order: Order<Job>;
  readonly #deps: OrderStageDependencies;

  constructor(dependencies: OrderStageDependencies) {
    this.#deps = dependencies;
    const { receivers, lane, settle, waiting, windowMs, log, now } = dependencies;
    this.order = new Order({
      exits: {
        send: (job, hasWaited) => {
          lane.submit(hasWaited ? heldByOrder(job) : job, receivers.known(job.delivery));
        },
        waitBehind: (job, until, firstAttemptAt) => {
          settle.apply(job, { kind: 'behind', until, firstAttemptAt });
        },
        giveUp: (job) => {
          settle.apply(job, { kind: 'over', reason: windowEndedReason(job) });
        },
        pause: (job) => settle.apply(job, { kind: 'paused' }),
      },
      receivers: {
        isPaused: (job) => lane.isPaused(receivers.known(job.delivery)) && !receivers.isOfDeletedUser(job),
        receiverOf: ({ delivery }) => receivers.receiverOf(delivery),
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
    const destination = receivers.known(job.delivery);
    if (isOrdered(job)) this.order.arrive(job);
    else if (needsOrder(job, destination, names)) this.order.arrive(withSequence(job));
    else lane.submit(job, destination);
  }
}

function heldByOrder(job: Job): Job {
  const { delivery } = job;
  return { ...job, delivery: { ...delivery, heldBy: alsoHeldBy(delivery, 'order') } };
}
