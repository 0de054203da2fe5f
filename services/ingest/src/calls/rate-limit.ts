/**
 * Rate limits of sources, in calls a second. Each replica counts separately: replicas share nothing but Kafka, and
 * a round trip for each call would cost more than a limit that is a multiple.
 */
import type { Source } from '@tailrace/config';

export interface RateLimits {
  /**
   * Consumes `calls` of the source's allowance. Returns 0, or the whole seconds after which to send the calls
   * again.
   */
  consume(source: Source, calls: number): number;
}

interface Allowance {
  calls: number;
  at: number;
}

/**
 * A token bucket for each source, with a capacity of one second's limit. A request passes where the bucket is not
 * empty, and may leave a debt, because a batch of any size must be able to pass.
 */
export function createRateLimits(now: () => number = () => performance.now()): RateLimits {
  const allowances = new Map<string, Allowance>();
  return {
    consume({ id, rateLimit }, calls) {
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
