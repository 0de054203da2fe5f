/**
 * Parked deliveries: how long a delivery waits while the circuit breakers of its URLs are open, without an attempt and
 * without a step of its schedule, and which delivery returns as the next probe.
 */
import type { Delivery } from '@tailrace/topics';
import type { Target } from '@tailrace/webhook';
import type { RetryPolicy } from '../decide.ts';
import type { Receivers } from '../receivers.ts';
import { windowBegan } from '../retry/window.ts';

export interface ParkingDependencies {
  readonly receivers: Receivers;
  readonly policy: RetryPolicy;
  readonly now: () => number;
}

/** The last wait ends before the window does, by this part of the window. */
const lastWaitShare = 0.02;

/** `targets` are the URLs that are still open for the delivery. */
export class Parking {
  readonly #deps: ParkingDependencies;

  constructor(dependencies: ParkingDependencies) {
    this.#deps = dependencies;
  }

  /** Returns when the retry window began, in milliseconds since the epoch; now where it has not begun. */
  windowBegan(delivery: Delivery, targets: readonly Target[]): number {
    const now = this.#deps.now();
    if (delivery.firstAttemptAt === undefined) return now;
    return windowBegan(delivery, this.#deps.receivers.stateOf(delivery, targets), now) ?? now;
  }

  /**
   * Returns the delivery as it is to be parked, until when, and the latest due time. The delivery that makes the next
   * probe waits for that, all others longer each time. Undefined where the window has ended.
   */
  plan(
    delivery: Delivery,
    targets: readonly Target[],
  ): { readonly delivery: Delivery; readonly until: number; readonly latest: number } | undefined {
    const { receivers, policy } = this.#deps;
    const { destinationId, deferrals } = delivery;
    const now = this.#deps.now();
    const firstAttemptAt = this.windowBegan(delivery, targets);
    const windowEndsAt = firstAttemptAt + policy.windowMs;
    if (now >= windowEndsAt) return undefined;
    const claims = targets.map(({ fingerprint }) =>
      receivers.breakers.claimProbe(destinationId, fingerprint),
    );
    const probeInMs = Math.min(...claims.map((inMs) => inMs ?? Infinity));
    const isProbe = probeInMs !== Infinity;
    const delayMs = policy.scheduleMs[Math.min(deferrals, policy.scheduleMs.length - 1)] ?? 0;
    const lastWaitEndsAt = windowEndsAt - policy.windowMs * lastWaitShare;
    const latest = lastWaitEndsAt > now ? lastWaitEndsAt : windowEndsAt;
    return {
      delivery: { ...delivery, firstAttemptAt, deferrals: isProbe ? 0 : deferrals + 1 },
      until: Math.min(now + (isProbe ? probeInMs : delayMs), latest),
      latest,
    };
  }
}
