/**
 * The way of a delivery through the service. Each stage is made of the stages after it, and knows no other:
 *
 * - **receive**: a source has read the record (sources/): the consumer group, or a recall.
 * - **due** (stages/due.ts): it waits until it is due.
 * - **order** (stages/order.ts): it waits for earlier deliveries of its user, where its destination has an order.
 * - **lane** (stages/lane.ts): it waits for its turn among the deliveries of its destination.
 * - **attempt** (stages/attempt.ts): its destination is looked up, and the requests are sent.
 * - **settle** (settle/settle.ts): the record is finished, or a follow-up record is written first.
 *
 * A record is finished only when the delivery was delivered, or Kafka has acknowledged its follow-up record. Then its
 * offset may be committed.
 */
import type { TrackedRecord, Work } from '@tailrace/kafka';
import type { Delivery } from '@tailrace/topics';
import type { Job, Received } from './delivery.ts';
import type { Lanes } from './isolation/lanes.ts';
import type { Receivers } from './receivers.ts';
import type { FollowUps } from './retry/follow-ups.ts';
import type { Settle } from './settle/settle.ts';
import type { DueStage } from './stages/due.ts';
import type { OrderStage } from './stages/order.ts';

export interface PipelineDependencies {
  readonly due: DueStage;
  readonly order: OrderStage;
  readonly lanes: Lanes;
  readonly receivers: Receivers;
  readonly settle: Settle;
  readonly followUps: FollowUps;
}

export class Pipeline {
  readonly #deps: PipelineDependencies;

  constructor(dependencies: PipelineDependencies) {
    this.#deps = dependencies;
  }

  /** Deliveries that were read ahead from the retry topics and are not due yet. */
  get waiting(): number {
    return this.#deps.due.size;
  }

  jobOf(work: Work, delivery: Delivery): Job {
    return { work, delivery, order: this.#deps.order.order };
  }

  receive(job: Job): void {
    this.#deps.due.receive(job);
  }

  /** Writes a dead letter for a record that is not a delivery. */
  writeMalformed(record: TrackedRecord, problem: string): void {
    this.#deps.settle.writeMalformed(record, problem);
  }

  /** Takes a recalled delivery, as if it were due. */
  retry({ work, delivery }: Received): void {
    this.#deps.order.arrive({ work, delivery, order: this.#deps.order.order, background: true });
  }

  /** Writes the dead letter of a drained delivery. */
  drain({ work, delivery }: Received): void {
    this.#deps.settle.apply(this.jobOf(work, delivery), { kind: 'over', reason: 'drained' });
  }

  /** Lets a delivery wait until it is due. */
  delay({ work, delivery }: Received): void {
    this.#deps.due.wait(this.jobOf(work, delivery));
  }

  /** Removes and returns the deliveries of a destination that are not due yet, earliest first. */
  takeDelayed(destinationId: string): readonly Received[] {
    return this.#deps.due.take(destinationId);
  }

  /** Whether nothing would be sent to the receiver of a delivery now. */
  isBlocked(delivery: Delivery): boolean {
    return this.#deps.receivers.isBlocked(delivery);
  }

  /** Whether nothing new may be started, because it could not be committed. */
  get isHeld(): boolean {
    return this.#deps.lanes.paused;
  }

  /** Whether the lane of a destination has capacity for one more recalled delivery. */
  hasCapacityFor(destinationId: string): boolean {
    return this.#deps.lanes.hasCapacityFor(destinationId);
  }

  /** Resolves when all follow-up records written so far are acknowledged. */
  written(): Promise<void> {
    return this.#deps.followUps.written();
  }

  /** Drops what was not attempted, and resolves when everything in flight has ended. */
  async stop(): Promise<void> {
    this.#deps.due.stop();
    this.#deps.order.order.stop();
    await this.#deps.lanes.drain();
    await this.written();
  }
}
