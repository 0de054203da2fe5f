/** Many destinations at the same time, and the outcome of their deliveries according to the topics. */
import type { Destination } from '@tailrace/config';
import type { ConsumedRecord } from '@tailrace/kafka';
import { decodeDelivery, deliveryKey, type Delivery } from '@tailrace/records';
import { destinationOf, names, newDelivery, type Stage } from './stage.ts';

export function crowdOf(name: string, count: number, more: Partial<Destination> = {}): Destination[] {
  return Array.from({ length: count }, (_, place) => destinationOf(`${name}-${place}`, more));
}

/** That many deliveries for each destination, the destinations alternating; each has its own user. */
export function deliveriesFor(destinations: readonly Destination[], each: number): Delivery[] {
  return Array.from({ length: each }, (_, turn) =>
    destinations.map(({ id }) => newDelivery(id, { key: deliveryKey(id, `u-${turn}`) })),
  ).flat();
}

export function bodiesOf(deliveries: readonly { readonly body: string | Buffer }[]): string[] {
  return deliveries.map(({ body }) => String(body)).sort();
}

/** The records of these destinations' deliveries in the topics. */
export interface Fates {
  /** Records in retry topics, by their reason: `lane-full` for one that was deferred, `circuit-open` for a parked one. */
  readonly waited: Readonly<Record<string, number>>;
  /** Dead letters, by their reason. */
  readonly died: Readonly<Record<string, number>>;
}

/** The expected outcome of destinations that answer 200: every delivery was attempted immediately, none was deferred. */
export const undisturbed: Fates = { waited: {}, died: {} };

export function fatesOf(stage: Stage, destinations: readonly Destination[]): Fates {
  const dead = deliveriesAmong(stage.cluster.records(names.deliveriesDead), destinations);
  return { waited: reasonsOf(inTiers(stage, destinations)), died: reasonsOf(dead) };
}

/** The deliveries of these destinations in all retry topics. */
export function inTiers({ cluster }: Stage, destinations: readonly Destination[]): Delivery[] {
  const tiers = [...cluster.topics.keys()].filter((topic) => names.retryTierDelayMs(topic) !== undefined);
  return deliveriesAmong(
    tiers.flatMap((tier) => cluster.records(tier)),
    destinations,
  );
}

function deliveriesAmong(
  records: readonly ConsumedRecord[],
  destinations: readonly Destination[],
): Delivery[] {
  const ids = new Set(destinations.map(({ id }) => id));
  return records.flatMap((record) => {
    const delivery = decodeDelivery(record);
    return typeof delivery !== 'string' && ids.has(delivery.destinationId) ? [delivery] : [];
  });
}

function reasonsOf(deliveries: readonly Delivery[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { reason = 'none' } of deliveries) counts[reason] = (counts[reason] ?? 0) + 1;
  return counts;
}
