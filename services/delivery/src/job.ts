/** A delivery that is being processed. */
import type { Destination } from '@tailrace/config';
import type { Work } from '@tailrace/kafka';
import type { Delivery, TopicNames } from '@tailrace/topics';
import { targetsOf, type Target } from '@tailrace/webhook';

/** A delivery as it was read. */
export interface Received {
  /** The record it was read from, which is finished with `work.done()`. */
  readonly work: Work;
  readonly delivery: Delivery;
}

/** A delivery in the pipeline. */
export interface Job extends Received {
  /** Learns how the delivery ends, because later ones of its user may wait for that. */
  readonly order: UserOrder;
  /** Whether it was recalled, and gives way to live deliveries. */
  readonly background?: boolean;
}

/** The order of the deliveries of one user (ordering/order.ts). Jobs without a sequence have none, and are ignored. */
export interface UserOrder {
  /** Lets a job wait for earlier ones, then for its lane. */
  arrive(job: Job): void;
  /** The job is delivered, or its dead letter is acknowledged. */
  ended(job: Job): void;
  /**
   * The follow-up record of the job was published to a retry topic a moment ago, from which it is expected at `until`, so
   * the later ones of its key are written after it.
   */
  left(job: Job, until: number): void;
  /** The job has left its retry topic without its turn, so later ones do not wait for it. */
  removed(job: Job): void;
}

/** Copies the bytes of a delivery, which are otherwise a slice that keeps the whole fetched batch in memory. */
export function detach(delivery: Delivery): Delivery {
  const copy = { ...delivery, body: Buffer.from(delivery.body) };
  if (!delivery.otherHeaders) return copy;
  const otherHeaders = delivery.otherHeaders.map(
    ([name, value]) => [name, value && Buffer.from(value)] as const,
  );
  return { ...copy, otherHeaders };
}

/** Returns the URLs that have not failed permanently for this delivery. */
export function openTargets({ closedUrls }: Delivery, destination: Destination): readonly Target[] {
  const targets = targetsOf(destination);
  if (closedUrls.length === 0) return targets;
  return targets.filter(({ fingerprint }) => !closedUrls.includes(fingerprint));
}

export function isOrdered({ delivery }: Received): boolean {
  return delivery.sequence !== undefined;
}

/** Whether the delivery is new, its destination has an order, and it has no place in it yet. */
export function needsOrder(
  job: Received,
  destination: Destination | undefined,
  { deliveries }: Pick<TopicNames, 'deliveries'>,
): boolean {
  return destination?.ordering === 'user' && !isOrdered(job) && job.work.topic === deliveries;
}

/** The place of a delivery in the order of its user is its offset in `deliveries`. */
export function withSequence(job: Job): Job {
  return { ...job, delivery: { ...job.delivery, sequence: job.work.offset } };
}
