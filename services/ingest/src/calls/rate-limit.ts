/**
 * Rate limits of sources, in calls and in bytes a second. Each replica counts separately: replicas share nothing but Kafka, and
 * a round trip for each call would cost more than a limit that is a multiple.
 */
import { defaultRateLimitBytes, type Source } from '@tailrace/config';

export interface RateLimits {
  /**
   * Consumes `calls`, whose events have `bytes`, of the source's allowance. Returns 0, or the whole seconds after which to send
   * them again.
   */
  consume(source: Source, calls: number, bytes: number): number;
  /** The seconds that `calls`, whose events have `bytes`, take at the limits of the source; 0 while no other source sends. */
  durationS(source: Source, calls: number, bytes: number): number;
}

export interface RateLimitOptions {
  /** The calls a second of a source without `rateLimit`, while other sources send too; 0 is no limit. */
  readonly sharedCalls: number;
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
}

/** Sums of fractions may be a little less than what was earned. */
const forgivenS = 1e-6;

export function createRateLimits({
  sharedCalls,
  now = () => performance.now(),
}: RateLimitOptions): RateLimits {
  const ofCalls = new Map<string, Allowance>();
  const ofBytes = new Map<string, Allowance>();
  const senders = new Senders();
  const allowanceOf = (allowances: Map<string, Allowance>, id: string, limit: number, at: number) => {
    let allowance = allowances.get(id);
    if (!allowance) allowances.set(id, (allowance = new Allowance(limit)));
    allowance.earn(limit, at);
    return allowance;
  };
  const limitsOf = ({ id, rateLimit, rateLimitBytes = defaultRateLimitBytes }: Source, at: number) => {
    const isAlone = senders.isAlone(id, at);
    return { isAlone, callLimit: rateLimit ?? (isAlone ? 0 : sharedCalls), byteLimit: rateLimitBytes };
  };
  return {
    consume(source, calls, bytes) {
      const { id } = source;
      const at = now() / 1_000;
      senders.sent(id, at);
      const { callLimit, byteLimit } = limitsOf(source, at);
      const costs = [{ allowance: allowanceOf(ofBytes, id, byteLimit, at), cost: bytes }];
      if (callLimit > 0) costs.push({ allowance: allowanceOf(ofCalls, id, callLimit, at), cost: calls });
      const waitS = Math.max(...costs.map(({ allowance, cost }) => allowance.waitS(cost)));
      if (waitS > forgivenS) return Math.ceil(waitS - forgivenS);
      for (const { allowance, cost } of costs) allowance.take(cost);
      return 0;
    },
    durationS(source, calls, bytes) {
      const { isAlone, callLimit, byteLimit } = limitsOf(source, now() / 1_000);
      if (isAlone) return 0;
      return Math.max(callLimit > 0 ? calls / callLimit : 0, bytes / byteLimit);
    },
  };
}

/** Knows of each source whether another one has sent calls lately. */
class Senders {
  static readonly #latelyS = 10;
  #last = { id: '', at: -Infinity };
  /** The last one that is not `#last`. */
  #other = { id: '', at: -Infinity };

  sent(id: string, at: number): void {
    if (this.#last.id !== id) this.#other = this.#last;
    this.#last = { id, at };
  }

  isAlone(id: string, at: number): boolean {
    const other = this.#last.id === id ? this.#other : this.#last;
    return at - other.at > Senders.#latelyS;
  }
}

/**
 * A token bucket that holds what one second earns. A request passes where the bucket is not empty, and may leave a debt of at most
 * one second. So small requests do not starve larger ones.
 *
 * A batch that costs more than the bucket holds is refused until its cost has been saved beside the bucket: from what a full
 * bucket does not take, and otherwise from half of what is earned. So it passes although its source goes on sending.
 */
class Allowance {
  #limit: number;
  #tokens: number;
  #at: number | undefined;
  #saved = 0;
  /** The cost of the largest batch so far. */
  #wanted = 0;

  constructor(limit: number) {
    this.#limit = limit;
    this.#tokens = limit;
  }

  /** @param at the time in seconds */
  earn(limit: number, at: number): void {
    const earned = (at - (this.#at ?? at)) * limit;
    this.#limit = limit;
    this.#at = at;
    const tokens = this.#tokens + earned - Math.min(this.#missing, earned / 2);
    const saved = this.#tokens + earned - Math.min(limit, tokens);
    this.#tokens = Math.min(limit, tokens);
    this.#saved = Math.min(this.#wanted, this.#saved + saved);
  }

  /** The seconds until a request may pass if its source sends nothing else; at most 0 where it may pass now. */
  waitS(cost: number): number {
    if (cost <= this.#limit) {
      const toEarn = 1 - this.#tokens;
      return Math.min(2 * toEarn, toEarn + this.#missing) / this.#limit;
    }
    this.#wanted = Math.max(this.#wanted, cost);
    const toSave = cost - this.#saved;
    return Math.min(2 * toSave, toSave + this.#limit - this.#tokens) / this.#limit;
  }

  take(cost: number): void {
    if (cost <= this.#limit) this.#tokens -= cost;
    else this.#saved -= cost;
  }

  get #missing(): number {
    return this.#wanted - this.#saved;
  }
}
