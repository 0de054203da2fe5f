/**
 * How many calls a second a source may send, counted by each replica for itself: the replicas share nothing but
 * Kafka, and a limit that costs a round trip for each call would be worse than one that is a multiple.
 */
import type { Source } from '@tailrace/config';

export interface RateLimits {
  /** Takes `calls` out of the source's allowance: 0, or the whole seconds after which to send them again. */
  take(source: Source, calls: number): number;
}

interface Allowance {
  calls: number;
  at: number;
}

/**
 * A bucket for each source, filled at its limit up to one second's worth. Whoever finds anything in it may
 * take what it needs and leave a debt, because a batch of any size must be able to pass.
 */
export function createRateLimits(now: () => number = () => performance.now()): RateLimits {
  const allowances = new Map<string, Allowance>();
  return {
    take({ id, rateLimit }, calls) {
      if (rateLimit === undefined) return 0;
      const at = now();
      const allowance = allowances.get(id) ?? { calls: rateLimit, at };
      allowances.set(id, allowance);
      const earned = ((at - allowance.at) / 1_000) * rateLimit;
      allowance.calls = Math.min(rateLimit, allowance.calls + earned);
      allowance.at = at;
      if (allowance.calls < 1) return Math.ceil((1 - allowance.calls) / rateLimit);
      allowance.calls -= calls;
      return 0;
    },
  };
}
