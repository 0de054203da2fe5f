/**
 * Due times in the retry topics. A retry topic is read in order, so a record is on time only where the records before it
 * are due no later. `DueTimes` keeps due times from decreasing along each partition of a retry topic. This needs no
 * coordination, because each partition has a single owner.
 */

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

const unbounded: DueTimeBounds = { least: 0, most: Infinity };

export class DueTimes {
  readonly #last = new Map<string, number>();
  readonly #random: () => number;

  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /** Returns a random time in [earliest, latest], not before the last one of this partition where that fits. */
  assign(topic: string, partition: number, earliest: number, latest: number, bounds?: DueTimeBounds): number {
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
  next(topic: string, partition: number, earliest: number, latest: number, bounds?: DueTimeBounds): number {
    const last = this.last(topic, partition, bounds);
    const dueAt = Math.round(Math.min(Math.max(earliest, last), latest));
    this.#last.set(keyOf(topic, partition), Math.max(last, dueAt));
    return dueAt;
  }
}

function keyOf(topic: string, partition: number): string {
  return `${topic}/${partition}`;
}
