/**
 * The ordered deliveries of one partition that a recall has in memory: the lowest sequences for which there is room, and of
 * each key the one whose turn it is. Of one key, one is under way at a time: order.ts has little memory for those behind it,
 * and would write them to a tier.
 */
import type { Entry } from './part.ts';

export interface OrderingLimits {
  readonly records: number;
  readonly bytes: number;
}

export class Ordering {
  readonly #limits: OrderingLimits;
  /** All up to this sequence were dispatched, but for those in memory. */
  dispatchedTo = -1;
  #candidates: Entry[] = [];
  /** Of those that were read beside the group. */
  #bytes = 0;
  /** The lowest sequence for which there was no memory. */
  #leastDeferred = Infinity;
  /** By key, in order: the one whose turn it is, and those behind it. */
  readonly #chains = new Map<string, Entry[]>();

  constructor(limits: OrderingLimits) {
    this.#limits = limits;
  }

  /** Whether some are left for another turn. */
  get isWaiting(): boolean {
    return this.#candidates.length > 0;
  }

  /** What the group has read is in its memory anyway. */
  keep(entry: Entry): void {
    this.#candidates.push(entry);
  }

  collect(entry: Entry): void {
    if (sequenceOf(entry) >= this.#leastDeferred) {
      this.#defer(entry);
      return;
    }
    this.#candidates.push(entry);
    this.#bytes += entry.bytes;
    if (this.#bytes > this.#limits.bytes || this.#candidates.length > this.#limits.records) this.#shrink();
  }

  /** Those whose turn it is, now that all was read. */
  begin(): Entry[] {
    const sorted = this.#candidates.sort(bySequence);
    this.#candidates = sorted.filter((entry) => sequenceOf(entry) >= this.#leastDeferred);
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

  /** One has ended: where it was its turn, the next of its key. */
  next(ended: Entry): Entry | undefined {
    const { key } = ended.job.delivery;
    const chain = this.#chains.get(key);
    if (chain?.[0] !== ended) return undefined;
    chain.shift();
    if (chain.length === 0) this.#chains.delete(key);
    return chain[0];
  }

  /** To be called before all is read again; false where nothing was deferred. */
  beginAgain(): boolean {
    const wasDeferred = this.#leastDeferred < Infinity;
    this.#leastDeferred = Infinity;
    return wasDeferred;
  }

  clear(): void {
    this.#candidates = [];
    this.#chains.clear();
  }

  /** To half, so that not each further one sorts them all. */
  #shrink(): void {
    const ours = this.#candidates.filter(isOurs).sort(bySequence);
    const kept = this.#candidates.filter((entry) => !isOurs(entry));
    this.#bytes = 0;
    for (const [nth, entry] of ours.entries()) {
      const fits =
        this.#bytes + entry.bytes <= this.#limits.bytes / 2 && kept.length < this.#limits.records / 2;
      if (nth > 0 && !(fits && this.#leastDeferred === Infinity)) {
        this.#defer(entry);
        continue;
      }
      kept.push(entry);
      this.#bytes += entry.bytes;
    }
    this.#candidates = kept;
  }

  #defer(entry: Entry): void {
    entry.part.defer(entry);
    this.#leastDeferred = Math.min(this.#leastDeferred, sequenceOf(entry));
  }
}

function isOurs({ real }: Entry): boolean {
  return real === undefined;
}

function sequenceOf({ job }: Entry): number {
  return job.delivery.sequence ?? 0;
}

function bySequence(a: Entry, b: Entry): number {
  return sequenceOf(a) - sequenceOf(b);
}
