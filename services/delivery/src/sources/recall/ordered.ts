/**
 * The ordered deliveries of one partition that a recall has in memory: the lowest sequences that fit, and for each key the
 * one whose turn it is. One delivery of each key is in flight at a time: order.ts has little memory for those behind it, and
 * would write them to a retry topic.
 */
import type { Entry } from './part.ts';

export interface OrderedLimits {
  readonly records: number;
  readonly bytes: number;
}

export class OrderedEntries {
  readonly #limits: OrderedLimits;
  /** All deliveries up to this sequence were dispatched, except for those in memory. */
  dispatchedTo = -1;
  #candidates: Entry[] = [];
  /** The bytes of entries that the recall has read itself. */
  #bytes = 0;
  /** The lowest sequence that did not fit into memory. */
  #leastPostponed = Infinity;
  /** By key, in order: the entry whose turn it is, and those behind it. */
  readonly #chains = new Map<string, Entry[]>();

  constructor(limits: OrderedLimits) {
    this.#limits = limits;
  }

  /** Whether entries are left for the next pass. */
  get isWaiting(): boolean {
    return this.#candidates.length > 0;
  }

  /** Adds an entry that the group has read, and that is in its memory anyway. */
  keep(entry: Entry): void {
    this.#candidates.push(entry);
  }

  /** Adds an entry that the recall has read, or postpones it where it does not fit. */
  collect(entry: Entry): void {
    if (sequenceOf(entry) >= this.#leastPostponed) {
      this.#postpone(entry);
      return;
    }
    this.#candidates.push(entry);
    this.#bytes += entry.bytes;
    if (this.#bytes > this.#limits.bytes || this.#candidates.length > this.#limits.records) this.#shrink();
  }

  /** All retry topics were read. Returns the first entry of each key. */
  begin(): Entry[] {
    const sorted = this.#candidates.sort(bySequence);
    this.#candidates = sorted.filter((entry) => sequenceOf(entry) >= this.#leastPostponed);
    this.#bytes = 0;
    const first: Entry[] = [];
    for (const entry of sorted.slice(0, sorted.length - this.#candidates.length)) {
      const { key } = entry.job.delivery;
      const chain = this.#chains.get(key);
      if (chain) chain.push(entry);
      else {
        this.#chains.set(key, [entry]);
        first.push(entry);
      }
    }
    return first;
  }

  /** Returns the next entry of the key, where it was the turn of the ended one. */
  next(ended: Entry): Entry | undefined {
    const { key } = ended.job.delivery;
    const chain = this.#chains.get(key);
    if (chain?.[0] !== ended) return undefined;
    chain.shift();
    if (chain.length === 0) this.#chains.delete(key);
    return chain[0];
  }

  /** All is read again. Returns false where nothing was postponed. */
  beginAgain(): boolean {
    const wasPostponed = this.#leastPostponed < Infinity;
    this.#leastPostponed = Infinity;
    return wasPostponed;
  }

  clear(): void {
    this.#candidates = [];
    this.#chains.clear();
  }

  /** Shrinks to half, so that the entries are not sorted again for each further one. */
  #shrink(): void {
    const own = this.#candidates.filter(isOwn).sort(bySequence);
    const kept = this.#candidates.filter((entry) => !isOwn(entry));
    this.#bytes = 0;
    for (const [nth, entry] of own.entries()) {
      const fits =
        this.#bytes + entry.bytes <= this.#limits.bytes / 2 && kept.length < this.#limits.records / 2;
      if (nth > 0 && !(fits && this.#leastPostponed === Infinity)) {
        this.#postpone(entry);
        continue;
      }
      kept.push(entry);
      this.#bytes += entry.bytes;
    }
    this.#candidates = kept;
  }

  #postpone(entry: Entry): void {
    entry.part.postpone(entry);
    this.#leastPostponed = Math.min(this.#leastPostponed, sequenceOf(entry));
  }
}

/** Whether the group has not read the record. */
function isOwn({ groupWork }: Entry): boolean {
  return groupWork === undefined;
}

function sequenceOf({ job }: Entry): number {
  return job.delivery.sequence ?? 0;
}

function bySequence(a: Entry, b: Entry): number {
  return sequenceOf(a) - sequenceOf(b);
}
