/** Facts about a delivery that is being processed, and its copy in memory. */
import type { Destination } from '@tailrace/config';
import type { Delivery } from '@tailrace/topics';
import { targetsOf, type Target } from '@tailrace/webhook';
import type { Job } from './successors.ts';

/** With bytes of its own: those it came with are a slice of all that was fetched, and keep that in memory. */
export function detach(delivery: Delivery): Delivery {
  const copy = { ...delivery, body: Buffer.from(delivery.body) };
  if (!delivery.otherHeaders) return copy;
  const otherHeaders = delivery.otherHeaders.map(
    ([name, value]) => [name, value && Buffer.from(value)] as const,
  );
  return { ...copy, otherHeaders };
}

export function openTargets({ delivery }: Job, destination: Destination): readonly Target[] {
  const targets = targetsOf(destination);
  if (delivery.closedUrls.length === 0) return targets;
  return targets.filter(({ fingerprint }) => !delivery.closedUrls.includes(fingerprint));
}

export function isOrdered({ delivery }: Job): boolean {
  return delivery.sequence !== undefined;
}
