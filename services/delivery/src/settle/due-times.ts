/**
 * Due times in the retry topics. A retry topic is read in order, so a record is on time only where the records before it
 * are due no later. `DueTimes` keeps due times from decreasing along each partition of a retry topic. This needs no
 * coordination, because each partition has a single owner.
 */
import type { Work } from '@tailrace/kafka';
import type { Retry } from '../delivery.ts';

/** The part of its range from which the first due time is drawn: the first half leaves the rest for later records. */
const firstShare = 0.5;
/** How far each further record of a burst moves into the rest of the range: a thousand spread over all of it. */
const burstShare = 0.02;

/** Limits of the last due time that an earlier owner may have assigned, in milliseconds since the epoch. */
export interface DueTimeBounds {
  /** An earlier owner may have assigned times up to this one. */
  readonly least: number;
  /** No assigned time is later, unless the clock was set back. */
  readonly most: number;
}

type DueTimeRange = readonly [earliest: number, latest: number];

const unbounded: DueTimeBounds = { least: 0, most: Infinity };

export class DueTimes {
  readonly #last = new Map<string, number>();
  readonly #random: () => number;

  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /** Returns a random time in [earliest, latest], not before the last one of this partition where that fits. */
  assign(topic: string, partition: number, [earliest, latest]: DueTimeRange, bounds?: DueTimeBounds): number {
    const last = this.last(topic, partition, bounds);
    const from = Math.min(Math.max(earliest, last), latest);
    const share = last > earliest ? burstShare : firstShare;
    const dueAt = Math.round(from + (latest - from) * share * this.#random());
    this.#last.set(keyOf(topic, partition), Math.max(last, dueAt));
    return dueAt;
  }

  /** Returns the latest time that was, or may have been, assigned for this partition, in milliseconds since the epoch. */
  last(topic: string, partition: number, { least, most } = unbounded): number {
    return Math.min(Math.max(this.#last.get(keyOf(topic, partition)) ?? 0, least), most);
  }

  /** Assigns the first time in [earliest, latest] that is not before the last one, where that fits. */
  next(topic: string, partition: number, [earliest, latest]: DueTimeRange, bounds?: DueTimeBounds): number {
    const last = this.last(topic, partition, bounds);
    const dueAt = Math.round(Math.min(Math.max(earliest, last), latest));
    this.#last.set(keyOf(topic, partition), Math.max(last, dueAt));
    return dueAt;
  }
}

function keyOf(topic: string, partition: number): string {
  return `${topic}/${partition}`;
}

/** How much longer a single wait may become before it is split in two, as a part of the wait. */
const slack = 0.25;
/** The shortest wait, as a part of a retry topic's delay. */
const leastShare = 0.8;

/**
 * Returns the retry topic for a wait until `until` that is not a step of the retry schedule, or for the first part of it. The
 * shortest one whose delay is long enough takes the whole wait with the exact due time, which costs one rewrite. Where its
 * last records are due much later, the new record would wait behind them; then a shorter one takes a part of the wait.
 *
 * @param until milliseconds since the epoch, like `now`
 * @param tiersMs the delays of the retry topics, shortest first; not empty
 * @param lastDueAt when the last record that was written to a retry topic is due
 */
export function tierUntil(
  until: number,
  now: number,
  tiersMs: readonly number[],
  lastDueAt: (tierMs: number) => number,
): Pick<Retry, 'tierMs' | 'earliestDueAt'> {
  const [shortestMs = 0] = tiersMs;
  // A time that has passed already was too optimistic; wait before trying again.
  const waitMs = until > now ? until - now : shortestMs * leastShare;
  const whole = tiersMs.find((tierMs) => tierMs >= waitMs);
  const part = tiersMs.findLast((tierMs) => tierMs <= waitMs);
  const isPrompt = whole !== undefined && lastDueAt(whole) <= now + waitMs * (1 + slack);
  const tierMs = (isPrompt ? whole : part) ?? shortestMs;
  return { tierMs, earliestDueAt: Math.ceil(now + Math.min(waitMs, tierMs)) };
}

/**
 * Since when this replica owns a partition number, in all topics. An earlier owner may have written to the retry topics
 * until then, with due times that are not known here.
 */
export class Ownership {
  readonly #now: () => number;
  #joinedAt = -Infinity;
  readonly #owned = new Map<number, { readonly work: Pick<Work, 'revoked'>; readonly since: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A rebalance is over. */
  joined(): void {
    this.#joinedAt = this.#now();
  }

  /**
   * Returns since when the partition of `work` is owned, in milliseconds since the epoch, or the time of a later
   * rebalance where this was not called for the partition before.
   *
   * @param work of a partition that is not revoked
   */
  since(work: Pick<Work, 'partition' | 'revoked'>): number {
    const known = this.#owned.get(work.partition);
    if (known && !known.work.revoked) return known.since;
    const since = this.#joinedAt;
    this.#owned.set(work.partition, { work, since });
    return since;
  }
}
