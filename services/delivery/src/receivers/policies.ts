/** The retry policy of each destination: that of the service, within which its own `retry` may choose. */
import type { ConfigView, Destination } from '@tailrace/config';
import { parseDuration } from '@tailrace/events';
import type { Delivery } from '@tailrace/records';
import type { DeliveryPolicy } from '../transition.ts';

export class Policies {
  /** Of destinations without `retry`. */
  readonly usual: DeliveryPolicy;
  readonly #config: Pick<ConfigView, 'destination'>;
  readonly #own = new WeakMap<Destination, DeliveryPolicy>();

  constructor(usual: DeliveryPolicy, config: Pick<ConfigView, 'destination'>) {
    this.usual = usual;
    this.#config = config;
  }

  ofDelivery({ destinationId }: Pick<Delivery, 'destinationId'>): DeliveryPolicy {
    return this.of(this.#config.destination(destinationId));
  }

  of(destination: Destination | undefined): DeliveryPolicy {
    if (!destination?.retry) return this.usual;
    let policy = this.#own.get(destination);
    if (!policy) this.#own.set(destination, (policy = policyOf(destination.retry, this.usual)));
    return policy;
  }
}

/** A delay without a retry topic becomes the next longer one that has one, or the longest. */
function policyOf(retry: NonNullable<Destination['retry']>, usual: DeliveryPolicy): DeliveryPolicy {
  const { tiersMs } = usual;
  const scheduleMs = retry.schedule?.map((delay) => {
    const delayMs = parseDuration(delay) ?? 0;
    return tiersMs.find((tierMs) => tierMs >= delayMs) ?? Math.max(...tiersMs);
  });
  const windowMs = retry.for === undefined ? usual.windowMs : (parseDuration(retry.for) ?? usual.windowMs);
  return {
    ...usual,
    ...(scheduleMs && { scheduleMs }),
    windowMs: Math.min(windowMs, usual.windowMs),
  };
}
