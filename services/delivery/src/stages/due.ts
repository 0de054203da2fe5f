/** The first stage: a delivery waits until it is due. */
import { isOrdered, type Job } from '../delivery.ts';
import { DelayQueue } from '../retry/delay-queue.ts';
import type { OrderStage } from './order.ts';

export class DueStage {
  readonly #order: Pick<OrderStage, 'arrive'>;
  readonly #now: () => number;
  readonly #queue: DelayQueue<Job>;

  constructor(order: Pick<OrderStage, 'arrive'>, now: () => number) {
    this.#order = order;
    this.#now = now;
    this.#queue = new DelayQueue({
      onDue: (job) => {
        order.arrive(job);
      },
      isStale: ({ work }) => work.revoked,
      now,
    });
  }

  /** Deliveries that were read ahead from the retry topics and are not due yet. */
  get size(): number {
    return this.#queue.size;
  }

  receive(job: Job): void {
    const { dueAt } = job.delivery;
    // An ordered delivery that is due already still queues behind those that are due earlier.
    if (dueAt !== undefined && (dueAt > this.#now() || isOrdered(job))) this.wait(job);
    else this.#order.arrive(job);
  }

  wait(job: Job): void {
    this.#queue.add(job, job.delivery.dueAt ?? this.#now());
  }

  /** Removes and returns the deliveries of a destination that are not due yet, earliest first. */
  take(destinationId: string): Job[] {
    return this.#queue.remove(({ delivery }) => delivery.destinationId === destinationId);
  }

  stop(): void {
    this.#queue.clear();
  }
}
