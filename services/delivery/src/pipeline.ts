/**
 * The way of a delivery through the service. Each stage is made of the stages after it, and knows no other:
 *
 * - **receive**: a source has read the record: the consumer group, or a recall (sources/).
 * - **due**: it waits until it is due (stages/due/).
 * - **order**: it waits for earlier deliveries of its user, where its destination has an order (stages/order/).
 * - **lane**: it waits for its turn among the deliveries of its destination, which is looked up then (stages/lane/).
 * - **attempt**: the requests are sent (stages/attempt/).
 * - **settle**: what follows is decided (transition.ts), and the record is finished, or a follow-up record is written first
 *   (settle/).
 *
 * A record is finished only when the delivery was delivered, or Kafka has acknowledged its follow-up record. Then its
 * offset may be committed.
 */
import type { Work } from '@tailrace/kafka';
import type { Delivery } from '@tailrace/records';
import { isOrdered, type Job, type Received } from './delivery.ts';
import type { Lanes } from './stages/lane/lanes.ts';
import type { Order } from './stages/order/order.ts';
import { DelayQueue } from './stages/due/delay-queue.ts';
import type { FollowUps } from './settle/follow-ups.ts';
import type { Settle } from './settle/settle.ts';

export interface PipelineDependencies {
  readonly order: Order<Job>;
  readonly lanes: Pick<Lanes, 'drain'>;
  readonly settle: Settle;
  readonly followUps: Pick<FollowUps, 'written'>;
  readonly now: () => number;
}

export class Pipeline {
  readonly #deps: PipelineDependencies;
  readonly #due: DelayQueue<Job>;

  constructor(dependencies: PipelineDependencies) {
    this.#deps = dependencies;
    const { order, now } = dependencies;
    const onDue = (job: Job): void => order.arrive(job);
    this.#due = new DelayQueue({
      onDue,
      orderOf: ({ delivery: { sequence = 0 } }) => sequence,
      isStale: ({ work }) => work.revoked,
      now,
    });
  }

  /** Deliveries that were read ahead from the retry topics and are not due yet. */
  get waiting(): number {
    return this.#due.size;
  }

  jobOf(work: Work, delivery: Delivery): Job {
    return { work, delivery, order: this.#deps.order };
  }

  receive(job: Job): void {
    const { order, now } = this.#deps;
    const { dueAt } = job.delivery;
    // An ordered delivery that is due already still queues behind those that are due earlier.
    if (dueAt !== undefined && (dueAt > now() || isOrdered(job))) this.#due.add(job, dueAt);
    else order.arrive(job);
  }

  /** Takes a recalled delivery, as if it were due. */
  retry({ work, delivery }: Received): void {
    const { order } = this.#deps;
    order.arrive({ work, delivery, order, background: true });
  }

  /** Writes the dead letter of a drained delivery. */
  drain({ work, delivery }: Received): void {
    this.#deps.settle.apply(this.jobOf(work, delivery), { kind: 'over', reason: 'drained' });
  }

  /** Lets a delivery wait until it is due. */
  delay({ work, delivery }: Received): void {
    this.#due.add(this.jobOf(work, delivery), delivery.dueAt ?? this.#deps.now());
  }

  /** Removes and returns the deliveries of a destination that are not due yet, earliest first. */
  takeDelayed(destinationId: string): readonly Received[] {
    return this.#due.remove(({ delivery }) => delivery.destinationId === destinationId);
  }

  /** Resolves when all follow-up records written so far are acknowledged. */
  written(): Promise<void> {
    return this.#deps.followUps.written();
  }

  /** Drops what was not attempted, and resolves when everything in flight has ended. */
  async stop(): Promise<void> {
    this.#due.clear();
    this.#deps.order.stop();
    await this.#deps.lanes.drain();
    await this.written();
  }
}
