/** A delivery that is being processed. */
import type { Destination } from '@tailrace/config';
import type { Work } from '@tailrace/kafka';
import type { Delivery } from '@tailrace/topics';
import { targetsOf, type Target } from '@tailrace/webhook';

export interface Job {
  /** The record it was read from, which is finished with `work.done()`. */
  readonly work: Work;
  readonly delivery: Delivery;
  /** Whether it was recalled, and gives way to live deliveries. */
  readonly background?: boolean;
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
export function openTargets({ delivery }: Job, destination: Destination): readonly Target[] {
  const targets = targetsOf(destination);
  if (delivery.closedUrls.length === 0) return targets;
  return targets.filter(({ fingerprint }) => !delivery.closedUrls.includes(fingerprint));
}

export function isOrdered({ delivery }: Job): boolean {
  return delivery.sequence !== undefined;
}
