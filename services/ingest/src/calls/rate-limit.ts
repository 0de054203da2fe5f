/**
 * Rate limits of sources, in calls and in bytes a second. Each replica counts separately: replicas share nothing but Kafka, and
 * a round trip for each call would cost more than a limit that is a multiple.
 */
import { defaultRateLimitBytes, type Source } from '@tailrace/config';
import { maxBatchCalls } from '@tailrace/events';

export interface RateLimits {
  /**
   * Consumes `calls`, whose events have `bytes`, of the source's allowance. Returns 0, or the whole seconds after which to send
   * them again.
   */
  consume(source: Source, calls: number, bytes: number): number;
  /** Returns 0, or the whole seconds for which a request of the source is refused whatever it costs. */
  waitS(source: Source): number;
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
  const allowanceOf = (allowances: Map<string, Allowance>, id: string, limit: Limit): Allowance => {
    let allowance = allowances.get(id);
    if (!allowance) allowances.set(id, (allowance = new Allowance(limit)));
    allowance.earn(limit, now() / 1_000);
    return allowance;
  };
  const limitOfCalls = ({ id, rateLimit }: Source): Limit | undefined => {
    const isAlone = senders.isAlone(id, now() / 1_000);
    if (rateLimit !== undefined) return { perSecond: rateLimit, holds: rateLimit };
    if (isAlone || sharedCalls === 0) return undefined;
    // Any batch passes at once.
    return { perSecond: sharedCalls, holds: Math.max(sharedCalls, maxBatchCalls) };
  };
  const allowancesOf = (source: Source): { readonly bytes: Allowance; readonly calls?: Allowance } => {
    const { id, rateLimitBytes = defaultRateLimitBytes } = source;
    const bytes = allowanceOf(ofBytes, id, { perSecond: rateLimitBytes, holds: rateLimitBytes });
    const limit = limitOfCalls(source);
    return limit ? { bytes, calls: allowanceOf(ofCalls, id, limit) } : { bytes };
  };
  return {
    consume(source, calls, bytes) {
      const allowances = allowancesOf(source);
      const waitS = Math.max(allowances.bytes.waitS(bytes), allowances.calls?.waitS(calls) ?? 0);
      if (waitS > forgivenS) return Math.ceil(waitS - forgivenS);
      allowances.bytes.take(bytes);
      allowances.calls?.take(calls);
      return 0;
    },
    waitS(source) {
      const { bytes, calls } = allowancesOf(source);
      const waitS = Math.max(bytes.emptyForS, calls?.emptyForS ?? 0);
      return waitS > forgivenS ? Math.ceil(waitS - forgivenS) : 0;
    },
  };
}

/** Knows of each source whether another one has sent calls lately. */
class Senders {
  static readonly #latelyS = 10;
  #last = { id: '', at: -Infinity };
  /** The last one that is not `#last`. */
  #other = { id: '', at: -Infinity };

  /** Whether no source but `id`, which sends now, has sent calls lately. */
  isAlone(id: string, at: number): boolean {
    if (this.#last.id !== id) this.#other = this.#last;
    this.#last = { id, at };
    return at - this.#other.at > Senders.#latelyS;
  }
}

interface Limit {
  readonly perSecond: number;
  /** What the bucket holds, at least what a second earns. */
  readonly holds: number;
}

/**
 * A token bucket. A request passes where the bucket is not empty, and may leave a debt of at most what it holds. So small requests
 * do not starve larger ones.
 *
 * A batch that costs more than the bucket holds is refused until its cost has been saved beside the bucket: from what a full
 * bucket does not take, and otherwise from half of what is earned. So it passes although its source goes on sending.
 */
class Allowance {
  #limit: Limit;
  #tokens: number;
  #at: number | undefined;
  #saved = 0;
  /** The cost of the largest batch so far. */
  #wanted = 0;

  constructor(limit: Limit) {
    this.#limit = limit;
    this.#tokens = limit.holds;
  }

  /** @param at the time in seconds */
  earn(limit: Limit, at: number): void {
    const earned = (at - (this.#at ?? at)) * limit.perSecond;
    this.#limit = limit;
    this.#at = at;
    const tokens = this.#tokens + earned - Math.min(this.#missing, earned / 2);
    const saved = this.#tokens + earned - Math.min(limit.holds, tokens);
    this.#tokens = Math.min(limit.holds, tokens);
    this.#saved = Math.min(this.#wanted, this.#saved + saved);
  }

  /** The seconds until a request may pass if its source sends nothing else; at most 0 where it may pass now. */
  waitS(cost: number): number {
    const { perSecond, holds } = this.#limit;
    if (cost <= holds) {
      const toEarn = 1 - this.#tokens;
      return Math.min(2 * toEarn, toEarn + this.#missing) / perSecond;
    }
    this.#wanted = Math.max(this.#wanted, cost);
    const toSave = cost - this.#saved;
    return Math.min(2 * toSave, toSave + holds - this.#tokens) / perSecond;
  }

  take(cost: number): void {
    if (cost <= this.#limit.holds) this.#tokens -= cost;
    else this.#saved -= cost;
  }

  /** The seconds until any request may pass. A batch for which something is saved may pass before. */
  get emptyForS(): number {
    return this.#wanted > 0 ? 0 : Math.max(0, (1 - this.#tokens) / this.#limit.perSecond);
  }

  get #missing(): number {
    return this.#wanted - this.#saved;
  }
}
