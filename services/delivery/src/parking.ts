/**
 * Deliveries whose receiver is dead: how long each waits, without an attempt and without a step of its schedule, and which
 * of them comes back as the next probe.
 */
import type { Delivery } from '@tailrace/topics';
import type { Target } from '@tailrace/webhook';
import type { RetryPolicy } from './decide.ts';
import type { Lanes } from './lanes/lanes.ts';
import { receiverOf, windowBegan, type Receiver } from './window.ts';

export interface ParkingDependencies {
  readonly lanes: Pick<Lanes, 'parks' | 'stateOf' | 'claimProbe'>;
  readonly policy: RetryPolicy;
  readonly now: () => number;
}

/** There is a last look at the receiver before the window ends, by this part of the window. */
const lastLookShare = 0.02;

/** `targets` are the URLs that are open for the delivery. */
export class Parking {
  readonly #deps: ParkingDependencies;

  constructor(dependencies: ParkingDependencies) {
    this.#deps = dependencies;
  }

  /** Whether every URL is known to be dead, and nothing may be sent now. */
  isDown({ destinationId }: Delivery, targets: readonly Target[]): boolean {
    const { lanes } = this.#deps;
    return targets.length > 0 && targets.every(({ fingerprint }) => lanes.parks(destinationId, fingerprint));
  }

  receiver({ destinationId }: Delivery, targets: readonly Target[]): Receiver {
    const urls = targets.map(({ fingerprint }) => this.#deps.lanes.stateOf(destinationId, fingerprint));
    return receiverOf(urls, this.#deps.now() - performance.now());
  }

  /** When its retry window began, in milliseconds since the epoch: now, where it has not. */
  windowBegan(delivery: Delivery, targets: readonly Target[]): number {
    const now = this.#deps.now();
    if (delivery.firstAttemptAt === undefined) return now;
    return windowBegan(delivery, this.receiver(delivery, targets), now) ?? now;
  }

  /**
   * The delivery as it is to wait, until when, and no longer than: for the next probe, where it is the one that will make
   * it, else longer each time. Undefined where its window is over.
   */
  plan(
    delivery: Delivery,
    targets: readonly Target[],
  ): { readonly delivery: Delivery; readonly until: number; readonly latest: number } | undefined {
    const { lanes, policy } = this.#deps;
    const { destinationId, deferrals } = delivery;
    const now = this.#deps.now();
    const firstAttemptAt = this.windowBegan(delivery, targets);
    const windowEndsAt = firstAttemptAt + policy.windowMs;
    if (now >= windowEndsAt) return undefined;
    const claims = targets.map(({ fingerprint }) => lanes.claimProbe(destinationId, fingerprint));
    const probeInMs = Math.min(...claims.map((inMs) => inMs ?? Infinity));
    const isProbe = probeInMs !== Infinity;
    const delayMs = policy.scheduleMs[Math.min(deferrals, policy.scheduleMs.length - 1)] ?? 0;
    const lastLookAt = windowEndsAt - policy.windowMs * lastLookShare;
    const latest = lastLookAt > now ? lastLookAt : windowEndsAt;
    return {
      delivery: { ...delivery, firstAttemptAt, deferrals: isProbe ? 0 : deferrals + 1 },
      until: Math.min(now + (isProbe ? probeInMs : delayMs), latest),
      latest,
    };
  }
}
