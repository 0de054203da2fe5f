/** Many destinations at the same time, and the outcome of their deliveries according to the topics. */
import type { Destination } from '@tailrace/config';
import type { ConsumedRecord } from '@tailrace/kafka';
import { decodeDelivery, deliveryKey, type Delivery } from '@tailrace/topics';
import type { Answer } from './receivers/answers.ts';
import { destinationOf, newDelivery, type DeliveryStage } from './processes/delivery.ts';
import { readAll } from './kafka/topics.ts';

/** Destinations of one origin, each with its own path: `/0`, `/1` … */
export function crowdOf(count: number, origin: string, more: Partial<Destination> = {}): Destination[] {
  return Array.from({ length: count }, (_, place) => destinationOf([`${origin}/${place}`], more));
}

/** That many deliveries for each destination, the destinations alternating; each has its own user. */
export function deliveriesFor(destinations: readonly Destination[], each: number): Delivery[] {
  return Array.from({ length: each }, (_, turn) =>
    destinations.map(({ id }) => newDelivery(id, { key: deliveryKey(id, `u-${turn}`) })),
  ).flat();
}

/** Resolves when Kafka has acknowledged all of them. The order within each partition is kept. */
export async function publishAll(
  stage: DeliveryStage,
  deliveries: readonly Delivery[],
  topic?: string,
): Promise<void> {
  await Promise.all(deliveries.map((delivery) => stage.publish(delivery, topic)));
}

/** The records of these destinations' deliveries in the topics. */
export interface Fates {
  /** Records in tiers, by their reason: `lane-full` for one that was deferred, `circuit-open` for a parked one. */
  readonly waited: Readonly<Record<string, number>>;
  /** Dead letters, by their reason. */
  readonly died: Readonly<Record<string, number>>;
}

/** The expected outcome of destinations that answer 200: every delivery was attempted immediately, none was deferred. */
export const undisturbed: Fates = { waited: {}, died: {} };

export async function fatesOf(
  { kafka, names }: DeliveryStage,
  tiersMs: readonly number[],
  destinations: readonly Destination[],
): Promise<Fates> {
  const tiers = await Promise.all(
    [...new Set(tiersMs)].map((tierMs) => readAll(kafka, names.retryTier(tierMs))),
  );
  const letters = await readAll(kafka, names.deliveriesDead);
  return { waited: reasonsOf(tiers.flat(), destinations), died: reasonsOf(letters, destinations) };
}

/** The records that are deliveries to these destinations. */
export function deliveriesAmong(
  records: readonly ConsumedRecord[],
  destinations: readonly Destination[],
): Delivery[] {
  const ids = new Set(destinations.map(({ id }) => id));
  return records.flatMap((record) => {
    const delivery = decodeDelivery(record);
    return typeof delivery !== 'string' && ids.has(delivery.destinationId) ? [delivery] : [];
  });
}

function reasonsOf(
  records: readonly ConsumedRecord[],
  destinations: readonly Destination[],
): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { reason = 'none' } of deliveriesAmong(records, destinations)) {
    counts[reason] = (counts[reason] ?? 0) + 1;
  }
  return counts;
}

/** Answers that wait until the test opens the gate. */
export interface Gate {
  /** The number of requests that wait. */
  readonly waiting: number;
  /** The answer when the gate is open, also to later requests. */
  answer(then: Answer): Answer;
  open(): void;
}

export function closedGate(): Gate {
  const opened = Promise.withResolvers<undefined>();
  let waiting = 0;
  return {
    get waiting() {
      return waiting;
    },
    answer: (then) => (response) => {
      waiting += 1;
      void opened.promise.then(() => {
        waiting -= 1;
        then(response);
      });
    },
    open() {
      opened.resolve(undefined);
    },
  };
}
